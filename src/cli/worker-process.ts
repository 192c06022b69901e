/** One worker as its supervisor sees it: started, heard, told what to do. Every wait for it has a deadline. */
import type { Subprocess } from "bun";
import { programCommand } from "../program.ts";
import type { FromWorker, ToWorker } from "./worker.ts";
import { WORKER } from "./worker.ts";

/** What came of a reload; a worker that ended reads the config when it is started again. */
export type ReloadOutcome = { kind: "reloaded" } | { kind: "refused"; message: string } | { kind: "ended" };

export interface WorkerEvents {
  /** It listens. */
  onReady(table: string): void;
  /** @param how for a sentence: `ended with code 1` */
  onEnd(how: string, code: number | null): void;
}

/** A worker that was not heard for so long hangs. Milliseconds. */
const SILENCE_MS = 8_000;
/** Longest time from the start of a worker until it listens: plugins are rehearsed in it. Milliseconds. */
const START_MS = 60_000;
/** Longest time a worker may take to reload; below the time that `weir reload` waits. Milliseconds. */
const RELOAD_MS = 45_000;

export class WorkerProcess {
  readonly number: number;
  readonly #child: Subprocess;
  #serves = false;
  #ended = false;
  /** When it was started or last heard; monotonic milliseconds. */
  #heardAt = performance.now();
  /** Takes the outcome of a running reload. */
  #answer: ((outcome: ReloadOutcome) => void) | undefined;

  /** @throws Error when the system starts no process: too many of them, no memory, no executable file */
  constructor(number: number, port: number, events: WorkerEvents) {
    this.number = number;
    this.#child = Bun.spawn({
      ...programCommand(process.argv.slice(2)),
      env: { ...process.env, [WORKER]: `${number}:${port}` },
      stdio: ["ignore", "inherit", "inherit"],
      serialization: "json",
      ipc: (message: FromWorker) => this.#take(message, events),
      onExit: (_, code, signal) => {
        this.#serves = false;
        this.#ended = true;
        this.#answer?.({ kind: "ended" });
        events.onEnd(signal === null ? `ended with code ${code}` : `ended by signal ${signal}`, code);
      },
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** It listens, and has not been seen to end. */
  get serves(): boolean {
    return this.#serves;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Why it hangs, for a sentence; undefined while it does not. */
  get hang(): string | undefined {
    if (this.#ended) return undefined;
    const silent = performance.now() - this.#heardAt;
    if (this.#serves) return silent > SILENCE_MS ? `was not heard for ${SILENCE_MS / 1000} s` : undefined;
    return silent > START_MS ? `did not start within ${START_MS / 1000} s` : undefined;
  }

  /** Begins its silence anew: the supervisor itself did not run for a time. */
  excuse(): void {
    this.#heardAt = performance.now();
  }

  reload(): Promise<ReloadOutcome> {
    const { promise, resolve } = Promise.withResolvers<ReloadOutcome>();
    const timer = setTimeout(
      () => resolve({ kind: "refused", message: `no answer within ${RELOAD_MS / 1000} s` }),
      RELOAD_MS,
    );
    this.#answer = (outcome) => {
      clearTimeout(timer);
      this.#answer = undefined;
      resolve(outcome);
    };
    if (this.#ended || !this.#send({ kind: "reload" })) this.#answer({ kind: "ended" });
    return promise;
  }

  /** Has it drain and end. One that does not listen yet has nothing to drain. */
  stop(): void {
    if (!this.#serves || !this.#send({ kind: "stop" })) this.kill();
  }

  kill(): void {
    if (!this.#ended) this.#child.kill("SIGKILL");
  }

  #take(message: FromWorker, events: WorkerEvents): void {
    this.#heardAt = performance.now();
    if (message.kind === "alive") return;
    if (message.kind !== "ready") return this.#answer?.(message);
    this.#serves = true;
    events.onReady(message.table);
  }

  /** @returns whether the message is on its way */
  #send(message: ToWorker): boolean {
    try {
      this.#child.send(message);
      return true;
    } catch {
      return false;
    }
  }
}
