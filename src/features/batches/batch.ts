/**
 * A batch: work that may wait, a line of its input for each call. All parts of the feature share the type. A batch is a value;
 * `moved` and `counted` make the next one.
 */
import type { Nano } from "../../ledger/money.ts";

/**
 * - `checking`: the input is read and checked.
 * - `waiting`, `running`: no line has begun, some have.
 * - `closing`: all lines have ended, and the files of the results are written.
 * - `stopping`: a client cancelled it, and running lines end.
 * - `paused`: an operator, a full disk or an absent store holds it; `reason` says which.
 * - `done`, `refused`, `stopped`, `late`: ends. Results of a late batch are kept; its remaining lines have none.
 */
export type State =
  | "checking"
  | "waiting"
  | "running"
  | "closing"
  | "done"
  | "refused"
  | "stopping"
  | "stopped"
  | "late"
  | "paused";

/** How a line of a batch ended; `done` means that it succeeded. */
export type Ending = "done" | "failed" | "cancelled" | "late";

/** What is wrong with a line of the input. */
export interface LineFault {
  /** For programs: `invalid_json_line`, `duplicate_custom_id`. */
  readonly code: string;
  /** Counts from 1, as the vendor does; absent if the fault is that of the whole input. */
  readonly line?: number;
  readonly message: string;
  /** The member that is wrong (`body.stream`). */
  readonly param?: string;
}

/** Tokens of all lines so far. */
export interface BatchUsage {
  /** All input, what caches held included. */
  readonly input: number;
  /** Part of `input` that was read from a cache. */
  readonly cached: number;
  /** All output, reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

export interface Batch {
  /** 26 characters of Crockford's base32 in lower case, without the prefix of a dialect. */
  readonly id: string;
  /** The path that pays, as that of its key. */
  readonly path: string;
  readonly key?: string;
  readonly person?: string;
  /** The path of the endpoint that each line asks: `/v1/chat/completions`. */
  readonly endpoint: string;
  /** Absent if the lines name several. */
  readonly model?: string;
  /** For people. */
  readonly name?: string;
  readonly state: State;
  /** `run`: weir makes a call of each line. `native`: a batch of the provider holds them. */
  readonly how: "run" | "native";
  /** Milliseconds that the batch may take. */
  readonly window: number;
  readonly metadata: Readonly<Record<string, string>>;
  /** From 0 to 9: lines of higher ones go first among those of a key. Absent: 0. */
  readonly priority?: number;
  /** The requests came in one body, and so do the results to clients of Google. */
  readonly isInline?: true;
  /** Ids of files, without the prefix of a dialect. */
  readonly inputFile: string;
  readonly outputFile?: string;
  readonly errorFile?: string;
  /** The batch whose failed lines it runs again. Its own input is made of those files when it is checked. */
  readonly retries?: { readonly batch: string; readonly inputFile: string; readonly errorFile: string };
  /** Number of lines; 0 while the input is checked. */
  readonly lines: number;
  /** Numbers of lines by their ending. */
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly late: number;
  /** Times are milliseconds since 1970. */
  readonly createdAt: number;
  /** When the input had been checked. */
  readonly startedAt?: number;
  readonly closingAt?: number;
  readonly endedAt?: number;
  readonly stoppingAt?: number;
  /** When the lines that have not begun become late. */
  readonly deadline: number;
  /** When the results are deleted. */
  readonly expiresAt?: number;
  readonly faults: readonly LineFault[];
  readonly usage: BatchUsage;
  readonly cost: Nano;
  /** What all lines may need of hard budgets, by their ids. Absent: it is not known, or the lines are not held to a sum. */
  readonly reserved?: Readonly<Record<string, Nano>>;
  /** Tokens of the input, by its size. Absent in batches of earlier versions. */
  readonly tokens?: number;
  /** Part of budgets that running lines hold. */
  readonly held: Nano;
  /** Parts of answers that the format of a reader could not carry when it read all results, by the vendor of its API. */
  readonly losses?: Readonly<Record<string, number>>;
  /** Why it is paused or refused: one sentence. */
  readonly reason?: string;
}

/** The states that may follow each state. A paused batch goes on as from the state before: see `phase`. */
export const NEXT: Readonly<Record<State, readonly State[]>> = {
  checking: ["waiting", "closing", "refused", "stopping", "paused"],
  waiting: ["running", "closing", "refused", "stopping", "paused"],
  running: ["closing", "refused", "stopping", "paused"],
  closing: ["done", "late", "paused"],
  stopping: ["stopped", "paused"],
  paused: [],
  done: [],
  refused: [],
  stopped: [],
  late: [],
};

type Stamp = "startedAt" | "closingAt" | "stoppingAt" | "endedAt";

/** The time that a state sets, unless it is set already. */
const STAMPS: Readonly<Partial<Record<State, Stamp>>> = {
  waiting: "startedAt",
  running: "startedAt",
  closing: "closingAt",
  stopping: "stoppingAt",
  done: "endedAt",
  refused: "endedAt",
  stopped: "endedAt",
  late: "endedAt",
};

/** Whether nothing follows the state. */
export function isEnd(state: State): boolean {
  return STAMPS[state] === "endedAt";
}

/** The state of a batch; for a paused one the state in which it was, where `running` also means `waiting`. */
export function phase(batch: Batch): Exclude<State, "paused"> {
  if (batch.state !== "paused") return batch.state;
  if (batch.stoppingAt !== undefined) return "stopping";
  if (batch.closingAt !== undefined) return "closing";
  return batch.startedAt === undefined ? "checking" : "running";
}

/** Whether the batch may change to another state. */
export function mayMove(batch: Batch, to: State): boolean {
  if (batch.state !== "paused") return NEXT[batch.state].includes(to);
  const before = phase(batch);
  if (to === before || (to === "waiting" && before === "running")) return true;
  return to !== "paused" && NEXT[before].includes(to);
}

/**
 * The batch in another state. The same batch if it is in that state already, so that a client may cancel twice.
 * @param at milliseconds since 1970; a clock that went back gives the time of the change before
 * @param reason why it is paused or refused; any other state has none
 * @throws Error if the state may not follow, or if the batch ends while lines have no ending
 */
export function moved(batch: Batch, to: State, at: number, reason?: string): Batch {
  if (batch.state === to) return batch;
  if (!mayMove(batch, to))
    throw new Error(`The batch ${batch.id} is ${batch.state} and cannot become ${to}.`);
  const open = batch.lines - endedLines(batch);
  if (isEnd(to) && to !== "refused" && open !== 0)
    throw new Error(`The batch ${batch.id} cannot become ${to}: ${open} of its lines have no ending.`);
  const stamp = STAMPS[to];
  const { createdAt, startedAt = 0, closingAt = 0, stoppingAt = 0 } = batch;
  return {
    ...batch,
    state: to,
    reason: to === "paused" || to === "refused" ? reason : undefined,
    ...(stamp && { [stamp]: batch[stamp] ?? Math.max(at, createdAt, startedAt, closingAt, stoppingAt) }),
  };
}

/** The number of lines that have ended. */
export function endedLines({ done, failed, cancelled, late }: Batch): number {
  return done + failed + cancelled + late;
}

/**
 * The batch with more lines ended.
 * @throws Error if more lines have ended than there are, or the batch itself has ended
 */
export function counted(batch: Batch, ending: Ending, lines = 1): Batch {
  if (isEnd(batch.state)) throw new Error(`The batch ${batch.id} has ended.`);
  if (endedLines(batch) + lines > batch.lines)
    throw new Error(`The batch ${batch.id} has ${batch.lines} lines, and more have ended.`);
  return { ...batch, [ending]: batch[ending] + lines };
}
