/** A process beside the workers that must run: it is started again when it ends or hangs, after a delay that grows while it does not start. */
import { sentence, WAITS } from "./worker.ts";
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
  /** The same where it passes on what it has. Default: `stopMs`. Milliseconds. */
  passMs?: number;
  /** Logs a fault. */
  report(text: string): void;
  /** What the process sends about its work. */
  onMessage?(message: OtherMessage): void;
  /** It has ended, by itself or because it was killed or stopped. */
  onEnd?(): void;
}

export class KeptProcess {
  readonly #options: KeptOptions;
  #stopped = Promise.withResolvers<void>();
  #waiting: PromiseWithResolvers<void> | undefined;
  #process: WorkerProcess | undefined;
  #pause = PAUSE_MS;
  #isStopping = false;

  constructor(options: KeptOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Starts it as far as it comes without what another process still has. @returns when it waits for {@link go} */
  prepare(): Promise<void> {
    this.#waiting = Promise.withResolvers<void>();
    this.start();
    return this.#waiting.promise;
  }

  /** Lets it go on. From now on it starts at once where it is started again. */
  go(): void {
    this.#waiting = undefined;
    this.#process?.go();
  }

  /** Starts it, also when it was stopped before. */
  start(): void {
    this.#isStopping = false;
    try {
      this.#process = new WorkerProcess(0, this.#program(), {
        onReady: () => (this.#pause = PAUSE_MS),
        onBuilt: () => this.#waiting?.resolve(),
        onEnd: (how) => this.#onEnd(how),
        onMessage: (message) => this.#options.onMessage?.(message),
      });
    } catch (cause) {
      this.#onEnd(`could not be started (${sentence(cause)})`);
    }
  }

  /** Lets a process of another gateway listen where this one does. */
  share(): void {
    this.#process?.share();
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

  /** @param how `pass`: a process of another gateway takes over what it has */
  async stop(how: "stop" | "pass" = "stop"): Promise<void> {
    this.#isStopping = true;
    if (!this.#process || this.#process.ended) return;
    this.#stopped = Promise.withResolvers();
    const { stopMs, passMs = stopMs } = this.#options;
    const timer = setTimeout(() => this.#process?.kill(), how === "pass" ? passMs : stopMs);
    this.#process[how]();
    await this.#stopped.promise;
    clearTimeout(timer);
  }

  #program(): ProcessProgram {
    const program = this.#options.program();
    return this.#waiting ? { ...program, env: { ...program.env, [WAITS]: "1" } } : program;
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
