/** The workers that the keeper of the books knows, by life. A worker may lose its connection and come back. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { BooksDown, BooksUp, WorkerState } from "../../ledger/messages.ts";

export type WorkerHello = Extract<BooksUp, { kind: "hello" }>;
export type Ask = Extract<BooksUp, { kind: "ask" }>;

export interface Peer {
  readonly life: string;
  readonly worker: number;
  /** Absent while the worker has no connection. */
  send: ((message: BooksDown) => void) | undefined;
  /** The file of its cells. */
  cells: string | undefined;
  /** The newest batch that was counted. */
  counted: number;
  /** The worker's own figure of its grants, once the batches up to `seq` are counted. */
  claim: { seq: number; shares: Map<string, number> } | undefined;
  /** All that it has was granted by this keeper. */
  isKnown: boolean;
  state: WorkerState | undefined;
}

/**
 * The process that a file of cells belongs to, by the file's name.
 * @returns undefined if the name has none, or where the system does not say
 */
export function isAlive(file: string | undefined): boolean | undefined {
  const pid = Number(/^(\d+)-/.exec(basename(file ?? ""))?.[1]);
  if (!pid) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const state = stat[stat.lastIndexOf(")") + 2];
    return state !== "Z" && state !== "X";
  } catch (cause) {
    return process.platform === "linux" && (cause as NodeJS.ErrnoException).code === "ENOENT"
      ? false
      : undefined;
  }
}
