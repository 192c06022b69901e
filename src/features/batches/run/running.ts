/** The batches that one worker runs. */
import type { KeptFiles } from "../../../core/kept-files.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import { isEnd } from "../batch.ts";
import type { BatchAnswer, Run, RunnerId } from "../messages.ts";
import type { batchesSection } from "../section.ts";
import { Pressure } from "./pressure.ts";
import { Runner } from "./runner.ts";
import type { RunnerOptions } from "./runner-options.ts";
import { sleep } from "./sleep.ts";
import { Slots } from "./slots.ts";
import type { Traffic } from "./traffic.ts";

/** Waits before a batch goes on that a fault has stopped: a file that is gone, a folder that cannot be written to. Milliseconds. */
const PAUSES_MS = [1_000, 5_000, 15_000, 30_000] as const;
/** Wait for a keeper that is away. Milliseconds. */
const AWAY_MS = 500;

type Settings = ReturnType<typeof batchesSection.of>;

export interface RunningOptions extends Pick<RunnerOptions, "tell" | "booked" | "reserve"> {
  readonly host: WorkerHost;
  /** Asks the keeper for the number of another runner, behind a fault. */
  again(of: RunnerId): Promise<BatchAnswer>;
  /** Tells the keeper that a runner has ended before its batch. */
  gone(of: RunnerId): void;
  files(): KeptFiles | undefined;
  /** What clients' calls say about providers. */
  readonly traffic: Pick<Traffic, "yieldMs">;
}

export class Running {
  readonly #options: RunningOptions;
  readonly #slots: Slots;
  readonly #pressure = new Pressure();
  /** By the ids of their batches. */
  readonly #runners = new Map<string, Runner>();
  /** All batches, with those that another runner has taken. */
  readonly #ends = new Set<Promise<void>>();
  #settings: Settings;
  #isLeaving = false;

  constructor(settings: Settings, options: RunningOptions) {
    this.#options = options;
    this.#settings = settings;
    this.#slots = new Slots({
      most: settings.concurrency,
      isFree: (signal) => (this.#settings.yield ? this.#pressure.pass(signal) : Promise.resolve()),
      yieldMs: (target) => (this.#settings.yield ? options.traffic.yieldMs(target) : 0),
    });
  }

  get own(): readonly RunnerId[] {
    return [...this.#runners.values()].map(({ id, fence }) => ({ id, fence }));
  }

  configure(settings: Settings): void {
    this.#settings = settings;
    this.#slots.most = settings.concurrency;
  }

  begin(run: Run): void {
    if (this.#isLeaving) return this.#options.gone({ id: run.batch.id, fence: run.fence });
    this.#runners.get(run.batch.id)?.lose();
    const end = this.#run(run)
      .catch((cause: unknown) => this.#options.host.fault(`batches: ${String(cause)}`))
      .finally(() => this.#ends.delete(end));
    this.#ends.add(end);
  }

  cancel(id: string): void {
    this.#runners.get(id)?.cancel();
  }

  /** @param until the runners have their batches, in milliseconds since 1970 */
  hold(runners: readonly RunnerId[], until: number): void {
    for (const { id, fence } of runners) this.#of({ id, fence })?.hold(until);
  }

  /** Another runner has the batch. */
  lose(of: RunnerId): void {
    this.#of(of)?.lose();
  }

  /** No line begins any more. Resolves when all have ended that run. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    for (const runner of this.#runners.values()) runner.leave();
    await Promise.all(this.#ends);
  }

  #of({ id, fence }: RunnerId): Runner | undefined {
    const found = this.#runners.get(id);
    return found?.fence === fence ? found : undefined;
  }

  async #run(first: Run): Promise<void> {
    this.#pressure.watch();
    const { host, tell, booked, reserve, gone } = this.#options;
    let next: Run | undefined = first;
    for (let faults = 0; next; faults++) {
      const run: Run = next;
      const files = this.#options.files();
      if (!files) throw new Error("the gateway keeps no files, which batches need");
      const runner = new Runner({
        ...{ run, host, tell, booked, reserve, files, slots: this.#slots },
        settings: { ...this.#settings, native: this.#settings },
      });
      this.#runners.set(runner.id, runner);
      const fault = await runner.run().then(
        () => undefined,
        (cause: unknown) => sentence(cause),
      );
      next = fault === undefined ? undefined : await this.#behind(fault, faults, runner, run);
      if (next) continue;
      if (this.#runners.get(runner.id) === runner) this.#runners.delete(runner.id);
      if (!isEnd(runner.batch.state)) gone({ id: runner.id, fence: runner.fence });
    }
    if (this.#runners.size === 0) this.#pressure.rest();
  }

  /** Waits behind a fault. @returns the next runner; undefined: there is none here */
  async #behind(fault: string, faults: number, runner: Runner, run: Run): Promise<Run | undefined> {
    this.#options.host.fault(`the batch ${runner.id} pauses: ${fault}`);
    await runner.pause(fault);
    await sleep(PAUSES_MS[Math.min(faults, PAUSES_MS.length - 1)]!, runner.left);
    const { id, fence } = runner;
    while (!runner.left.aborted) {
      const answer = await this.#options.again({ id, fence }).catch(() => undefined);
      if (answer && "fence" in answer) return { ...run, ...answer, batch: runner.batch };
      if (answer) return undefined;
      await sleep(AWAY_MS, runner.left);
    }
    return undefined;
  }
}

function sentence(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
