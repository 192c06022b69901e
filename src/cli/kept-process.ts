/** A process beside the workers that must run: it is started again when it ends or hangs, after a delay that grows while it does not start. */
import { sentence } from "./worker.ts";
import { type OtherMessage, type ProcessProgram, WorkerProcess } from "./worker-process.ts";

/** Delay before a restart, doubled up to the longest while the process does not come up. Milliseconds. */
const PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export interface KeptOptions {
  /** For messages: `the keeper`. */
  name: string;
  /** Called at each start. */
  program(): ProcessProgram;
  /** Maximum time to end after it was told to. Milliseconds. */
  stopMs: number;
  /** Logs a fault. */
  report(text: string): void;
  /** What the process sends about its work. */
  onMessage?(message: OtherMessage): void;
  /** It has ended, by itself or because it was killed or stopped. */
  onEnd?(): void;
}

export class KeptProcess {
  readonly #options: KeptOptions;
  readonly #stopped = Promise.withResolvers<void>();
  #process: WorkerProcess | undefined;
  #pause = PAUSE_MS;
  #isStopping = false;

  constructor(options: KeptOptions) {
    this.#options = options;
  }

  start(): void {
    try {
      this.#process = new WorkerProcess(0, this.#options.program(), {
        onReady: () => (this.#pause = PAUSE_MS),
        onEnd: (how) => this.#onEnd(how),
        onMessage: (message) => this.#options.onMessage?.(message),
      });
    } catch (cause) {
      this.#onEnd(`could not be started (${sentence(cause)})`);
    }
  }

  /** Kills a process that hangs. @param wasPaused its owner was paused, so that heartbeats may be late */
  check(wasPaused: boolean): void {
    if (wasPaused) this.#process?.resetHeartbeat();
    const hang = this.#process?.hang;
    if (hang === undefined) return;
    const { name, report } = this.#options;
    report(`${name} hangs: it ${hang}; weir kills it`);
    this.#process?.resetHeartbeat();
    this.#process?.kill();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    if (!this.#process || this.#process.ended) return;
    const timer = setTimeout(() => this.#process?.kill(), this.#options.stopMs);
    this.#process.stop();
    await this.#stopped.promise;
    clearTimeout(timer);
  }

  #onEnd(how: string): void {
    this.#options.onEnd?.();
    if (this.#isStopping) return this.#stopped.resolve();
    const { name, report } = this.#options;
    report(`${name} ${how}; weir restarts it`);
    setTimeout(() => {
      if (!this.#isStopping) this.start();
    }, this.#pause);
    this.#pause = Math.min(LONGEST_PAUSE_MS, this.#pause * 2);
  }
}
