/**
 * The record of a call: what the books keep of it. It contains no prompt, no answer and no credential; the error of a provider may
 * quote some words of a prompt. Plain JSON.
 */
import type { FailureClass, Outcome } from "../core/call.ts";
import type { Usage } from "../core/events.ts";
import type { Loss } from "../core/loss.ts";
import type { PromptSections } from "../core/prompt-sections.ts";
import type { RefusalReason } from "../core/refusal.ts";
import type { Charge, PriceRule } from "./charge.ts";
import type { Margin } from "./margins.ts";
import type { Nano } from "./money.ts";

/**
 * Number of the format of records in batches, and of the messages with them. It is raised with each change that another version of
 * weir would misread: who reads another number refuses it. Batches of format 1 were JSON.
 */
export const RECORD_FORMAT = 2;
/** The same for records as JSON, which commits on a disk have. */
export const TEXT_FORMAT = 1;

/** Why records of another format are refused, as a clause. */
export function formatFault(format: unknown, known = RECORD_FORMAT): string | undefined {
  if (format === known) return undefined;
  const age = typeof format === "number" && format > known ? "a newer" : "another";
  return `written by ${age} version of weir (format ${String(format)}; this version reads ${known})`;
}

/** Longest text in a record that a provider chose. Characters. */
export const MAX_PROVIDER_TEXT = 128;

/** One attempt of a call, in order. */
export interface AttemptRecord {
  provider: string;
  deployment: string;
  /** The provider's name of the model. */
  model: string;
  class: FailureClass | "answered";
  /** Milliseconds from its start to its end. */
  ms: number;
  usage: Usage;
  charge: Charge;
  /** The most that was held for it. */
  held: Nano;
  /** The most input that weir expected, without the margin of the target. Tokens; absent where it was not estimated. */
  expected?: number;
  /** The margins that would have sufficed where the provider counted more. Only for the keeper; the store does not get it. */
  missed?: readonly Omit<Margin, "target">[];
  /** The budget accounts that it was charged to: see {@link budgetAccount}. */
  accounts: readonly string[];
}

/** Times are milliseconds since 1970, durations milliseconds. */
export interface CallRecord {
  /** `req_…`. */
  id: string;
  startedAt: number;
  ms: number;
  headMs?: number;
  firstMs?: number;
  /** Time that weir itself needed: from the request to the sending of the first attempt. */
  ownMs?: number;
  /** Id of the gateway key. */
  key?: string;
  path?: string;
  tags?: readonly string[];
  /** Id of the client's format. */
  format: string;
  lane?: "native" | "translated" | "generated";
  /** The model as the client named it. */
  model: string;
  stream: boolean;
  status: number;
  outcome: Outcome;
  /** Why the call was refused by a rule of the gateway. */
  refused?: RefusalReason;
  error?: { kind: string; code?: string };
  finish?: string;
  /** Hash of the session, 16 hexadecimal digits; absent without a session. */
  session?: string;
  /** Name and version of the client's SDK, from `user-agent`, at most 64 characters. */
  client?: string;
  losses?: readonly Loss[];
  /** A column, as all members of a record that are not in {@link RECORD_MEMBERS}. Spans have it. */
  upstreamId?: string;
  /** Values of columns that the store does not get. */
  unstored?: Readonly<Record<string, unknown>>;
  /** Absent where nothing is known of a cache. It is not in the records that are read from the store. */
  prompt?: PromptRecord;
  /** Why less of the prompt was read from the cache than before. Only in records that are read from the store. */
  cacheBreak?: CacheBreak;
  /** Empty for a call that reached no provider. */
  attempts: readonly AttemptRecord[];
}

/** The record of a call, or a rule that the charges of later records refer to. */
export type Entry = CallRecord | { price: PriceRule };

const MEMBERS: Record<Exclude<keyof CallRecord, "upstreamId">, true> = {
  id: true,
  startedAt: true,
  ms: true,
  headMs: true,
  firstMs: true,
  ownMs: true,
  key: true,
  path: true,
  tags: true,
  format: true,
  lane: true,
  model: true,
  stream: true,
  status: true,
  outcome: true,
  refused: true,
  error: true,
  finish: true,
  session: true,
  client: true,
  prompt: true,
  losses: true,
  attempts: true,
  unstored: true,
  cacheBreak: true,
};

/** The members of a record that are no columns. */
export const RECORD_MEMBERS: ReadonlySet<string> = new Set(Object.keys(MEMBERS));

/** Members of records of earlier versions that were not for the store: commits that waited on a disk may have them. */
export const FORMER_MEMBERS: ReadonlySet<string> = new Set(["trace"]);

export type { RefusalReason } from "../core/refusal.ts";

/** The prompt that was answered, as hashes. */
export interface PromptRecord extends Pick<PromptSections, "parts" | "head"> {
  /** Of {@link PromptSections.hashes}: base64. */
  hashes: string;
  /** Amount that the cache saved, less the cost of writing to it. Absent without a price, as `dearer`. */
  saved?: Nano;
  /** Extra cost of the tokens that were written to the cache, and of those of `input`, over reading them from it. */
  dearer?: { write: Nano; input: Nano };
}

/**
 * `changed`: a section differs from that of the call before; `reordered`: the same elements in another order; `expired`: too
 * much time has passed; `deployment`: another deployment served the call; `provider`: none of these.
 */
export const BREAK_REASONS = ["changed", "reordered", "expired", "deployment", "provider"] as const;
export type BreakReason = (typeof BREAK_REASONS)[number];

/** Part of a prompt was in the cache of the provider and was not read from there. */
export interface CacheBreak {
  reason: BreakReason;
  /** JSON path of the section in the client's request: `system[1]`, and `tools` if these are reordered. */
  section?: string;
  /** Time since the end of the call before. Milliseconds. */
  afterMs: number;
  /** Tokens that were not read. */
  tokens: number;
  /** Their extra cost. 0 without a price. */
  cost: Nano;
}

/** Amount that a worker has spent of a budget account since its last batch. */
export interface Spend {
  /** See {@link budgetAccount}. */
  account: string;
  /** Charges that are known. */
  spent: Nano;
  /** Charges in the state `assumed`. */
  assumed: Nano;
  /** Amount by which charges exceeded their holds. */
  overrun: Nano;
}

/** Records and spends that a worker sends at once. A batch is applied completely or not at all, and once. */
export interface RecordBatch {
  /** Number of the batch of this worker's life; the first is 1. */
  seq: number;
  calls: readonly CallRecord[];
  spends: readonly Spend[];
  /** Number of records that were dropped because too many waited for the keeper. Their spends are in `spends`. */
  dropped?: number;
  /** The rules of all charges in `calls` that this worker uses for the first time. */
  prices: readonly PriceRule[];
}

/**
 * Id of an account: `b:BUDGET@START` for the window of a budget that begins at START, `r:LIMIT:UNIT` for a rate limit.
 * @param session hash of the session, for a budget on sessions: `b:BUDGET@START#SESSION`
 */
export function budgetAccount(budget: string, startsAt: number, session?: string): string {
  return session === undefined ? `b:${budget}@${startsAt}` : `b:${budget}@${startsAt}#${session}`;
}

export function rateAccount(limit: string, unit: string): string {
  return `r:${limit}:${unit}`;
}

/** The subject of an account. Ids of budgets and limits may contain any character. */
export type AccountParts =
  | { kind: "budget"; id: string; startsAt: number; session?: string }
  | { kind: "rate"; id: string; unit: string };

/** The reverse of {@link budgetAccount} and {@link rateAccount}. @returns undefined for other text */
export function readAccount(account: string): AccountParts | undefined {
  const budget = /^b:(.*)@(\d+)(?:#([0-9a-f]+))?$/s.exec(account);
  if (budget) {
    const [, id = "", startsAt, session] = budget;
    return { kind: "budget", id, startsAt: Number(startsAt), ...(session !== undefined && { session }) };
  }
  const rate = /^r:(.*):([a-z]+)$/s.exec(account);
  return rate ? { kind: "rate", id: rate[1]!, unit: rate[2]! } : undefined;
}
