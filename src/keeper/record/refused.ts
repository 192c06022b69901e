/** Batches that the store will never take: they are set aside in a file, so that they neither hold up later ones nor get lost unseen. */
import { appendFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { SQLiteError } from "bun:sqlite";
import { describeStoreFailure } from "../store/database.ts";
import type { Commit } from "../store/store.ts";

/** Attempts to write a commit before it is divided. */
export const REFUSALS = 3;

/** A larger file takes no more. Bytes. */
const MAX_BYTES = 64 * 1024 ** 2;

/** Values that the tables do not admit. Disks that are full and files that are locked are no refusals. */
const REFUSING = ["SQLITE_CONSTRAINT", "SQLITE_MISMATCH", "SQLITE_TOOBIG", "SQLITE_RANGE"];
/** Classes of SQLSTATE: wrong data, violated constraint. */
const REFUSING_STATES = /^2[23]/;

/** Whether a commit failed for what it contains, and not for the state of the store: it fails as often as it is repeated. */
export function isRefusal(cause: unknown): boolean {
  if (cause instanceof SQLiteError) return REFUSING.some((code) => cause.code?.startsWith(code));
  if (cause instanceof TypeError) return true;
  const { errno } = (cause ?? {}) as { errno?: unknown };
  return typeof errno === "string" && REFUSING_STATES.test(errno);
}

/**
 * Smaller commits with the same content, so that only what the store refuses is set aside: one for each batch, and one for
 * everything that is in no batch.
 * @returns undefined if it cannot be divided
 */
export function divide({
  batches,
  once: _,
  ...rest
}: Commit): { batches: Commit[]; rest?: Commit } | undefined {
  const hasRest = Object.values(rest).some((entries) => entries.length > 0);
  if (batches.length + Number(hasRest) < 2) return undefined;
  return {
    batches: batches.map((batch) => ({ ...NOTHING, batches: [batch] })),
    ...(hasRest && { rest: { ...rest, batches: [] } }),
  };
}

const NOTHING: Omit<Commit, "batches"> = {
  returns: [],
  assumptions: [],
  alerted: [],
  margins: [],
  rates: [],
};

/** The money of a commit without its records of calls, which count as dropped. @returns undefined if it has none */
export function withoutCalls(commit: Commit): Commit | undefined {
  if (commit.batches.every(({ calls }) => calls.length === 0)) return undefined;
  const batches = commit.batches.map(({ dropped = 0, ...batch }) => ({
    ...batch,
    calls: [],
    prices: [],
    dropped: dropped + batch.calls.length,
  }));
  return { ...commit, batches };
}

/** @param size of the file: a line that finds no room leaves nothing of it. @throws Error of the file system */
function appendWhole(path: string, text: string, size: number): void {
  try {
    appendFileSync(path, text, { mode: 0o600 });
  } catch (cause) {
    if (size > 0) truncateSync(path, size);
    else rmSync(path, { force: true });
    throw cause;
  }
}

/** A file with a line for each commit that was refused: when, why, and its content. */
export class RefusedFile {
  readonly #path: string | undefined;

  /** @param path absent: the books are in memory, and so nothing is kept */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  /**
   * @param isMoney the amounts are refused too, and not the records alone
   * @returns a sentence for the log
   */
  add(commit: Commit, why: unknown, isMoney: boolean, now: number): string {
    const calls = commit.batches.reduce((sum, batch) => sum + batch.calls.length, 0);
    const what = isMoney ? "amounts of budgets" : `${calls} ${calls === 1 ? "record" : "records"} of calls`;
    const effect = isMoney ? "budgets do not count them" : "budgets count them";
    const place = this.#write({ at: now, why: describeStoreFailure(why), commit });
    return `the store refuses ${what} (${describeStoreFailure(why)}); ${effect}, and ${place}`;
  }

  #write(line: object): string {
    if (this.#path === undefined) return "they are lost";
    try {
      const { size } = statSync(this.#path, { throwIfNoEntry: false }) ?? { size: 0 };
      if (size > MAX_BYTES) return `they are lost, because ${this.#path} is full`;
      appendWhole(this.#path, `${JSON.stringify(line)}\n`, size);
      return `they are in ${this.#path}`;
    } catch {
      return `they are lost, because ${this.#path} cannot be written`;
    }
  }
}
