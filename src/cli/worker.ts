/** The messages between supervisor and workers, and the worker's side of the protocol. */
import { availableParallelism } from "node:os";
import type { Config } from "../config/schema.ts";
import { exitProcess } from "../process/exit.ts";
import type { Steer } from "../process/steering.ts";
import type { KeeperAddress, ServiceOwner } from "../run/running-weir.ts";
import type { StateHome } from "../run/home.ts";
import type { ToOwner } from "../service/messages.ts";

/** The environment variable that makes a process a worker: its number and the port, `2:9347` or `2:9347:restart`. */
export const WORKER = "WEIR_WORKER";
/** Ends the variable of a worker that starts while its gateway already runs. */
export const RESTART = "restart";

/** The environment variable with the path of the keeper's socket. */
export const KEEPER = "WEIR_KEEPER";

/**
 * The environment variable of a process that says `built` when it has loaded all that it needs, and waits for `go`: the gateway
 * before this one still has the store.
 */
export const WAITS = "WEIR_WAITS";

/** The environment variable with the folder of the cells. */
export const CELLS = "WEIR_CELLS";

/** The environment variable with the settings of the keeper as JSON, for the keeper's process. */
export const KEEPER_SETTINGS = "WEIR_KEEPER_SETTINGS";

/** The environment variable with the {@link StateHome} of the gateway as JSON. */
export const HOME = "WEIR_STATE_HOME";

export type FromWorker =
  /** `admin`: URL of the admin API. `fault`: why the store of the books is not open, in one sentence. */
  | { kind: "ready"; table: string; admin?: string; fault?: string }
  /** It waits for `go`. */
  | { kind: "built" }
  /** Why it ends before it was ready, in one sentence. */
  | { kind: "failed"; message: string }
  /** `fault`: why new connections still go where the system sends them. */
  | { kind: "steered"; fault?: string }
  /** Heartbeat: the worker's event loop is running. */
  | { kind: "alive" }
  | { kind: "reloaded" }
  | { kind: "refused"; message: string }
  /** The worker needs the process of a feature. */
  | { kind: "service"; name: string }
  | ToOwner;

export type ToWorker =
  /**
   * `announced`: all workers serve, and other commands find the gateway. `leave`: another process gets new connections. `pass`: the
   * keeper ends for that of another gateway. `share`: before that, the other keeper may listen where the admin API does.
   */
  | { kind: "reload" | "announced" | "go" | "leave" | "pass" | "share" }
  /** `delayMs`: how long the worker still takes calls. */
  | { kind: "stop"; delayMs: number }
  /** Says which processes get new connections. `newest`: number of those that began to listen last. */
  | { kind: "steer"; how: Steer; newest: number }
  /** Where the process of a feature listens, or why it cannot. */
  | { kind: "service"; name: string; path: string }
  | { kind: "service"; name: string; fault: string };

/** Interval of a worker's heartbeats. Milliseconds. */
export const HEARTBEAT_MS = 1_000;

export interface WorkerPlace {
  number: number;
  port: number;
  isRestart: boolean;
  waits: boolean;
  home: StateHome;
  keeper: KeeperAddress;
}

/** @returns undefined in a process that is not a worker */
export function workerOf(env: Readonly<Record<string, string | undefined>>): WorkerPlace | undefined {
  const [first, second, third] = (env[WORKER] ?? "").split(":");
  const [number, port] = [Number(first), Number(second)];
  if (!number || !port) return undefined;
  const home = JSON.parse(env[HOME] ?? `{"kind":"memory"}`) as StateHome;
  const cells = env[CELLS];
  const keeper = { socket: env[KEEPER] ?? "", ...(cells !== undefined && { cells }) };
  return { number, port, isRestart: third === RESTART, waits: env[WAITS] !== undefined, home, keeper };
}

/** 0 means one worker per core, but only on Linux: other systems do not balance connections between processes. */
export function wantedWorkers({ workers, listen }: Config): number {
  if (listen.unix !== undefined) return 1;
  return workers || (process.platform === "linux" ? availableParallelism() : 1);
}

export interface WorkerDuties {
  /** The start table, which the supervisor prints. */
  table: string;
  /** URL of the admin API. */
  admin?: string;
  /** Why the store of the books is not open, in one sentence. */
  fault?: string;
  /** The gateway can be used by other commands now. */
  announced(this: void): void;
  /** Another process gets new connections. */
  leave(this: void): void;
  /** @throws Error with one sentence */
  steer(this: void, how: Steer, newest: number): Promise<void>;
  /** @throws Error with one sentence */
  reload(this: void): Promise<void>;
  /** Ends the process once its calls have ended. May be called more than once. @param delayMs how long it still takes calls */
  drain(this: void, delayMs?: number): void;
  /** Handles SIGTERM or SIGINT when the supervisor no longer exists. */
  signal(this: void): void;
}

/** A worker's side of its bond with the supervisor. */
export interface Supervised {
  /** Call this once the gateway listens; before that the supervisor sends no messages. */
  begin(this: void, duties: WorkerDuties): void;
  /** Says that the parts of the config are built, and waits until the supervisor lets it go on. */
  built(this: void): Promise<void>;
  /** The supervisor starts the processes of features. */
  readonly services: ServiceOwner;
}

/**
 * Binds this process to its supervisor. A terminal's interrupt and systemd's SIGTERM reach the whole process group, and the
 * supervisor decides what to do: a worker ignores its own signals while the supervisor exists. A worker whose supervisor is
 * gone drains and ends.
 */
export function followSupervisor(): Supervised {
  let duties: WorkerDuties | undefined;
  const send = (message: FromWorker) => {
    if (process.connected) process.send?.(message);
  };
  const onSignal = () => {
    if (process.connected) return;
    if (duties) duties.signal();
    else exitProcess(1);
  };
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, onSignal);
  for (const name of ["SIGHUP", "SIGUSR2"] as const) process.on(name, () => {});
  const services = new SupervisedServices(send);
  // A listener for messages keeps the process alive, so it is added only after a successful start.
  const begin = (given: WorkerDuties) => {
    duties = given;
    process.on("disconnect", () => given.drain());
    process.on("message", (message: ToWorker) => {
      if (message.kind === "service") return services.receive(message);
      if (message.kind === "stop") return given.drain(message.delayMs);
      if (message.kind === "steer")
        return void given.steer(message.how, message.newest).then(...steered(send));
      const { kind } = message;
      if (kind === "announced") return given.announced();
      if (kind === "leave") return given.leave();
      if (kind !== "reload") return;
      given.reload().then(
        () => send({ kind: "reloaded" }),
        (cause: unknown) => send({ kind: "refused", message: sentence(cause) }),
      );
    });
    if (!process.connected) given.drain();
    const { table, admin, fault } = given;
    send({ kind: "ready", table, admin, fault });
    services.begin();
    setInterval(() => send({ kind: "alive" }), HEARTBEAT_MS);
  };
  return { begin, services, built: () => built(send) };
}

function steered(send: (message: FromWorker) => void) {
  return [
    () => send({ kind: "steered" }),
    (cause: unknown) => send({ kind: "steered", fault: sentence(cause) }),
  ] as const;
}

/** Says that this process has loaded what it needs. @returns when the supervisor lets it go on */
export function built(send: (message: FromWorker) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const take = ({ kind }: ToWorker) => {
    if (kind !== "go") return;
    process.off("message", take);
    resolve();
  };
  process.on("message", take);
  // Without a supervisor no process uses this one.
  process.on("disconnect", () => resolve());
  send({ kind: "built" });
  return promise;
}

/** Tells the process that has started this one why it ends, if it listens. Nothing else comes from it then. */
export function tellFailure(message: string): void {
  if (!process.connected) return;
  process.send?.({ kind: "failed", message } satisfies FromWorker);
  process.disconnect?.();
}

/** Asks the supervisor for the processes of features. What is asked before the worker is ready waits for that. */
class SupervisedServices implements ServiceOwner {
  readonly #send: (message: FromWorker) => void;
  readonly #asked = new Map<string, PromiseWithResolvers<string>>();
  #isReady = false;

  constructor(send: (message: FromWorker) => void) {
    this.#send = send;
  }

  start(name: string): Promise<string> {
    const known = this.#asked.get(name);
    if (known) return known.promise;
    const asked = Promise.withResolvers<string>();
    this.#asked.set(name, asked);
    if (this.#isReady) this.#send({ kind: "service", name });
    return asked.promise;
  }

  /** The supervisor ends the processes when all workers have ended. */
  async stop(): Promise<void> {}

  begin(): void {
    this.#isReady = true;
    for (const name of this.#asked.keys()) this.#send({ kind: "service", name });
  }

  receive(message: Extract<ToWorker, { kind: "service" }>): void {
    const asked = this.#asked.get(message.name);
    if ("path" in message) return asked?.resolve(message.path);
    this.#asked.delete(message.name);
    asked?.reject(new Error(message.fault));
  }
}

/** The message of a thrown value. */
export function sentence(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
