/** What supervisor and workers say to each other, and the worker's side of it. */
import { availableParallelism } from "node:os";
import type { Config } from "../config/schema.ts";
import { exitProcess } from "../exit.ts";

/** The variable that makes a process a worker: its number and the port, `2:9347`. */
export const WORKER = "WEIR_WORKER";

export type FromWorker =
  | { kind: "ready"; table: string }
  /** Its event loop runs; sent all the time. */
  | { kind: "alive" }
  | { kind: "reloaded" }
  | { kind: "refused"; message: string };

export interface ToWorker {
  kind: "reload" | "stop";
}

/** How often a worker says that it is alive. Milliseconds. */
export const HEARTBEAT_MS = 1_000;

/** @returns undefined in a process that is no worker */
export function workerOf(
  env: Readonly<Record<string, string | undefined>>,
): { number: number; port: number } | undefined {
  const [number, port] = (env[WORKER] ?? "").split(":").map(Number);
  return number && port ? { number, port } : undefined;
}

/** Connections are spread over processes by the system, which only Linux does well. */
export function wantedWorkers({ workers, listen }: Config): number {
  if (listen.unix !== undefined) return 1;
  return workers || (process.platform === "linux" ? availableParallelism() : 1);
}

export interface WorkerDuties {
  /** The start table, for the supervisor to print. */
  table: string;
  /** @throws Error with one sentence */
  reload(this: void): Promise<void>;
  /** Ends the process once its calls have ended. Called more than once when there is more than one reason. */
  drain(this: void): void;
  /** A signal to end when there is no supervisor any more. */
  signal(this: void): void;
}

/**
 * Binds this process to its supervisor. Signals that reach the whole process group (a terminal's interrupt, systemd's
 * SIGTERM) are the supervisor's to act on: a worker ignores its own while there is one. A worker whose supervisor is gone
 * drains and ends.
 * @returns takes up the work once the gateway listens; before, the supervisor gives no orders
 */
export function followSupervisor(): (duties: WorkerDuties) => void {
  let duties: WorkerDuties | undefined;
  const say = (message: FromWorker) => {
    if (process.connected) process.send?.(message);
  };
  const onSignal = () => {
    if (process.connected) return;
    if (duties) duties.signal();
    else exitProcess(1);
  };
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, onSignal);
  process.on("SIGHUP", () => {});
  // Listening to the supervisor keeps the process alive, so a start that fails must not do it yet.
  return (given) => {
    duties = given;
    process.on("disconnect", given.drain);
    process.on("message", ({ kind }: ToWorker) => {
      if (kind === "stop") return given.drain();
      given.reload().then(
        () => say({ kind: "reloaded" }),
        (cause: unknown) => say({ kind: "refused", message: sentence(cause) }),
      );
    });
    if (!process.connected) given.drain();
    say({ kind: "ready", table: given.table });
    setInterval(() => say({ kind: "alive" }), HEARTBEAT_MS);
  };
}

/** What was thrown, as one sentence. */
export function sentence(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
