/** The messages between supervisor and workers, and the worker's side of the protocol. */
import { availableParallelism } from "node:os";
import type { Config } from "../config/schema.ts";
import { exitProcess } from "../process/exit.ts";
import type { KeeperAddress } from "../run/running-weir.ts";
import type { StateHome } from "../run/home.ts";

/** The environment variable that makes a process a worker: its number and the port, `2:9347` or `2:9347:restart`. */
export const WORKER = "WEIR_WORKER";
/** Ends the variable of a worker that starts while its gateway already runs. */
export const RESTART = "restart";

/** The environment variable with the path of the keeper's socket. */
export const KEEPER = "WEIR_KEEPER";

/** The environment variable with the folder of the cells. */
export const CELLS = "WEIR_CELLS";

/** The environment variable with the settings of the keeper as JSON, for the keeper's process. */
export const KEEPER_SETTINGS = "WEIR_KEEPER_SETTINGS";

/** The environment variable with the {@link StateHome} of the gateway as JSON. */
export const HOME = "WEIR_STATE_HOME";

export type FromWorker =
  /** `admin`: URL of the admin API. */
  | { kind: "ready"; table: string; admin?: string }
  /** Heartbeat: the worker's event loop is running. */
  | { kind: "alive" }
  | { kind: "reloaded" }
  | { kind: "refused"; message: string };

export interface ToWorker {
  /** `announced`: all workers serve, and other commands find the gateway. */
  kind: "reload" | "stop" | "announced";
}

/** Interval of a worker's heartbeats. Milliseconds. */
export const HEARTBEAT_MS = 1_000;

/** @returns undefined in a process that is not a worker */
export function workerOf(
  env: Readonly<Record<string, string | undefined>>,
): { number: number; port: number; isRestart: boolean; home: StateHome; keeper: KeeperAddress } | undefined {
  const [first, second, third] = (env[WORKER] ?? "").split(":");
  const [number, port] = [Number(first), Number(second)];
  if (!number || !port) return undefined;
  const home = JSON.parse(env[HOME] ?? `{"kind":"memory"}`) as StateHome;
  const cells = env[CELLS];
  const keeper = { socket: env[KEEPER] ?? "", ...(cells !== undefined && { cells }) };
  return { number, port, isRestart: third === RESTART, home, keeper };
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
  /** The gateway can be used by other commands now. */
  announced(this: void): void;
  /** @throws Error with one sentence */
  reload(this: void): Promise<void>;
  /** Ends the process once its calls have ended. May be called more than once. */
  drain(this: void): void;
  /** Handles SIGTERM or SIGINT when the supervisor no longer exists. */
  signal(this: void): void;
}

/**
 * Binds this process to its supervisor. A terminal's interrupt and systemd's SIGTERM reach the whole process group, and the
 * supervisor decides what to do: a worker ignores its own signals while the supervisor exists. A worker whose supervisor is
 * gone drains and ends.
 * @returns function to call once the gateway listens; before that the supervisor sends no messages
 */
export function followSupervisor(): (duties: WorkerDuties) => void {
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
  process.on("SIGHUP", () => {});
  // A listener for messages keeps the process alive, so it is added only after a successful start.
  return (given) => {
    duties = given;
    process.on("disconnect", given.drain);
    process.on("message", ({ kind }: ToWorker) => {
      if (kind === "stop") return given.drain();
      if (kind === "announced") return given.announced();
      given.reload().then(
        () => send({ kind: "reloaded" }),
        (cause: unknown) => send({ kind: "refused", message: sentence(cause) }),
      );
    });
    if (!process.connected) given.drain();
    send({ kind: "ready", table: given.table, admin: given.admin });
    setInterval(() => send({ kind: "alive" }), HEARTBEAT_MS);
  };
}

/** The message of a thrown value. */
export function sentence(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
