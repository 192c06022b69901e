/** What supervisor and workers know of each other. */
import { availableParallelism } from "node:os";
import type { Config } from "../config/schema.ts";

/** The variable that makes a process a worker: its number and the port, `2:9347`. */
export const WORKER = "WEIR_WORKER";

export type FromWorker =
  { kind: "ready"; table: string } | { kind: "reloaded" } | { kind: "refused"; message: string };

export interface ToWorker {
  kind: "reload";
}

/** @returns undefined in a process that is no worker */
export function workerOf(
  env: Readonly<Record<string, string | undefined>>,
): { number: number; port: number } | undefined {
  const [number, port] = (env[WORKER] ?? "").split(":").map(Number);
  return number && port ? { number, port } : undefined;
}

/** Connections are spread over processes by the system, which only Linux does well. */
export function wantedWorkers({ workers }: Config): number {
  return workers || (process.platform === "linux" ? availableParallelism() : 1);
}
