/** How the keeper asks a worker. */
import type { WitnessAnswer, WitnessDown } from "./messages.ts";

/** A look has few calls, each of which takes a minute at most. Milliseconds. */
const ANSWER_MS = 600_000;

type Send = (message: WitnessDown) => void;

export class Asks {
  readonly #workers = new Set<Send>();
  readonly #open = new Map<number, { worker: Send; settle(answer: WitnessAnswer): void }>();
  #number = 0;

  get hasWorker(): boolean {
    return this.#workers.size > 0;
  }

  connect(worker: Send): void {
    this.#workers.add(worker);
  }

  gone(worker: Send): void {
    this.#workers.delete(worker);
    for (const [number, open] of this.#open)
      if (open.worker === worker) this.received(number, { fault: "The worker ended while it looked." });
  }

  received(number: number, answer: WitnessAnswer): void {
    this.#open.get(number)?.settle(answer);
    this.#open.delete(number);
  }

  /** @throws Error with a sentence without a worker */
  ask(message: (number: number) => WitnessDown): Promise<WitnessAnswer> {
    const [worker] = this.#workers;
    if (!worker) throw new Error("Nothing was asked: no gateway runs.");
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<WitnessAnswer>();
    const timer = setTimeout(
      () => this.received(number, { fault: "No worker answered in time." }),
      ANSWER_MS,
    );
    timer.unref?.();
    const settle = (answer: WitnessAnswer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    this.#open.set(number, { worker, settle });
    worker(message(number));
    return promise;
  }
}
