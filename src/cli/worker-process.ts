/** A worker or keeper process from the supervisor's side: start, heartbeats, messages. Every wait has a timeout. */
import type { Subprocess } from "bun";
import { programCommand } from "../process/program.ts";
import type { Steer } from "../process/steering.ts";
import type { FromWorker, ToWorker } from "./worker.ts";

/** Result of a reload. `ended`: the worker ended; its restart reads the new config. */
export type ReloadOutcome = { kind: "reloaded" } | { kind: "refused"; message: string } | { kind: "ended" };

/** The program of a process. */
export interface ProcessProgram {
  /** Arguments without the program itself. */
  args: readonly string[];
  /** Environment variables besides those of this process. */
  env?: Readonly<Record<string, string>>;
}

export interface WorkerEvents {
  /** The worker listens. @param fault why the store of the books is not open, in one sentence */
  onReady(table: string, admin?: string, fault?: string): void;
  /** It waits for {@link WorkerProcess.go}. */
  onBuilt?(): void;
  /** @param how clause for a message: `ended with code 1` */
  onEnd(how: string, code: number | null): void;
  /** Another message that answers nothing. */
  onMessage?(message: OtherMessage): void;
}

/** What neither says how the process is nor answers the supervisor. */
export type OtherMessage = Extract<FromWorker, { kind: "service" | "log" | "group" }>;

/** A worker without a heartbeat for this time counts as hanging. Milliseconds. */
const SILENCE_MS = 8_000;
/** Maximum time from the start of a worker until it listens, including the preflight of plugins. Milliseconds. */
const START_MS = 60_000;
/** Maximum time in which a worker says which processes get new connections. Milliseconds. */
const STEER_MS = 2_000;
/** Maximum duration of a worker's reload; shorter than the time `weir reload` waits. Milliseconds. */
const RELOAD_MS = 45_000;

export class WorkerProcess {
  readonly number: number;
  readonly #child: Subprocess;
  #serves = false;
  #servesSince: number | undefined;
  #ended = false;
  #isKilled = false;
  #failure: string | undefined;
  #steered: ((fault: string | undefined) => void) | undefined;
  /** Time of the start or of the last heartbeat; monotonic milliseconds. */
  #heardAt = performance.now();
  /** Takes the outcome of a running reload. */
  #answer: ((outcome: ReloadOutcome) => void) | undefined;

  /** @throws Error when the system cannot start a process: process limit, memory, missing executable */
  constructor(number: number, { args, env }: ProcessProgram, events: WorkerEvents) {
    this.number = number;
    this.#child = Bun.spawn({
      ...programCommand(args),
      env: { ...process.env, ...env },
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

  /** The worker listens and has not ended. */
  get serves(): boolean {
    return this.#serves;
  }

  /** Time since it began to serve; 0 before. Milliseconds. */
  get servedMs(): number {
    return this.#servesSince === undefined ? 0 : performance.now() - this.#servesSince;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** weir has killed it. */
  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Why it ended before it was ready, as far as it could say; one sentence. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Why the worker counts as hanging, as a clause; undefined while it does not. */
  get hang(): string | undefined {
    if (this.#ended) return undefined;
    const silent = performance.now() - this.#heardAt;
    if (this.#serves) return silent > SILENCE_MS ? `sent no heartbeat for ${SILENCE_MS / 1000} s` : undefined;
    return silent > START_MS ? `did not start within ${START_MS / 1000} s` : undefined;
  }

  /** Restarts the heartbeat timeout, for example after the supervisor itself was paused. */
  resetHeartbeat(): void {
    this.#heardAt = performance.now();
  }

  reload(): Promise<ReloadOutcome> {
    const { promise, resolve } = Promise.withResolvers<ReloadOutcome>();
    const timer = setTimeout(
      () => resolve({ kind: "refused", message: `the worker did not answer within ${RELOAD_MS / 1000} s` }),
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

  /** Tells the worker that the gateway can be used by other commands. */
  announce(): void {
    this.#send({ kind: "announced" });
  }

  /** Lets a process go on that waits. */
  go(): void {
    this.#send({ kind: "go" });
  }

  /** Tells the worker that another process gets new connections. */
  leave(): void {
    this.#send({ kind: "leave" });
  }

  /** Lets the keeper of another gateway listen where the admin API of this one does. */
  share(): void {
    this.#send({ kind: "share" });
  }

  /** Ends a keeper for that of another gateway. */
  pass(): void {
    if (!this.#serves || !this.#send({ kind: "pass" })) this.kill();
  }

  /** @returns why new connections go where they went before, in one sentence; undefined if they do not */
  steer(how: Steer, newest: number): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#steered = resolve;
    const timer = setTimeout(() => resolve("the worker did not answer in time"), STEER_MS);
    if (!this.#send({ kind: "steer", how, newest })) resolve("the worker has ended");
    return promise.finally(() => clearTimeout(timer));
  }

  /** Tells the worker where the process of a feature listens. */
  tellService(service: Extract<ToWorker, { kind: "service" }>): void {
    this.#send(service);
  }

  /** Drains and ends the worker. A worker that does not listen yet is killed. @param delayMs how long it still takes calls */
  stop(delayMs = 0): void {
    if (!this.#serves || !this.#send({ kind: "stop", delayMs })) this.kill();
  }

  kill(): void {
    if (this.#ended) return;
    this.#isKilled = true;
    this.#child.kill("SIGKILL");
  }

  #take(message: FromWorker, events: WorkerEvents): void {
    this.#heardAt = performance.now();
    if (message.kind === "alive") return;
    if (message.kind === "reloaded" || message.kind === "refused") return this.#answer?.(message);
    if (message.kind === "built") return events.onBuilt?.();
    if (message.kind === "failed") return void (this.#failure = message.message);
    if (message.kind === "steered") return this.#steered?.(message.fault);
    if (message.kind !== "ready") return events.onMessage?.(message);
    this.#serves = true;
    this.#servesSince = performance.now();
    events.onReady(message.table, message.admin, message.fault);
  }

  /** @returns whether the message was sent */
  #send(message: ToWorker): boolean {
    try {
      this.#child.send(message);
      return true;
    } catch {
      return false;
    }
  }
}
