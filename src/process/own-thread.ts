/**
 * A thread of this program. It is a Worker of Bun, because one of `node:worker_threads` takes 1.6 MB more; the small heap saves
 * 0.6 MB. The first message says what the thread does, see thread.ts.
 */
import { mainModule } from "./program.ts";

export interface ThreadEvents<From> {
  message(message: From): void;
  /** The thread has ended, by itself or because it was terminated. */
  ended(): void;
}

export class OwnThread<To, From> {
  readonly #worker: Worker;

  /** The thread does not keep the process alive. */
  constructor(events: ThreadEvents<From>) {
    this.#worker = new Worker(mainModule(), { smol: true, ref: false });
    this.#worker.addEventListener("message", ({ data }: MessageEvent<From>) => events.message(data));
    this.#worker.addEventListener("error", (event) => event.preventDefault());
    this.#worker.addEventListener("close", () => events.ended());
  }

  /** The thread receives what is sent before it runs. */
  post(message: To): void {
    this.#worker.postMessage(message);
  }

  terminate(): void {
    this.#worker.terminate();
  }
}
