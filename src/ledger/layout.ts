/**
 * How a batch of records lies in memory. It is a row of entries, each at a multiple of 8 bytes: its length in bytes and its kind, 4 bytes
 * each, and its content. Numbers are those of this machine, because no other one reads them. A text that records repeat is written
 * once in a batch, as an entry of its own, and has the next number there, from 1; 0 stands for no text. So each batch can be read
 * without those before it.
 */
import type { Usage } from "../core/events.ts";
import type { AttemptRecord, CallRecord } from "./record.ts";

/** Kinds of entries. `json`: a price, or a record that does not fit into numbers of these sizes. */
export const KINDS = { text: 1, list: 2, json: 3, call: 4 } as const;

/** Words of an entry before its content, 4 bytes each. */
export const ENTRY_WORDS = 2;

/**
 * A call: words, then numbers of 8 bytes, then its attempts, then its texts: the id, the session, the prompt, the columns, and all other
 * members as JSON. Durations that are absent are NaN.
 */
export const CALL = {
  flags: 2,
  attempts: 3,
  status: 4,
  key: 5,
  path: 6,
  tags: 7,
  format: 8,
  lane: 9,
  model: 10,
  outcome: 11,
  refused: 12,
  errorKind: 13,
  errorCode: 14,
  finish: 15,
  client: 16,
  columns: 17,
} as const;
export const CALL_NUMBERS = { startedAt: 9, ms: 10, headMs: 11, firstMs: 12, ownMs: 13 } as const;
export const CALL_BYTES = 112;

/** Bits of {@link CALL.flags}. */
export const FLAGS = { stream: 1, session: 2, prompt: 4, rest: 8 } as const;

/** An attempt, from its first word and its first number of 8 bytes. */
export const ATTEMPT = {
  provider: 0,
  deployment: 1,
  model: 2,
  class: 3,
  state: 4,
  price: 5,
  doubt: 6,
  tier: 7,
  known: 8,
  accounts: 9,
} as const;
export const ATTEMPT_NUMBERS = {
  ms: 5,
  input: 6,
  cacheRead: 7,
  cacheWrite: 8,
  cacheWrite1h: 9,
  output: 10,
  reasoning: 11,
  cost: 12,
  held: 13,
  expected: 14,
} as const;
export const ATTEMPT_BYTES = 120;

/** A prompt: words, then its parts as pairs of a name and a count, then three numbers of 8 bytes and its hashes. */
export const PROMPT = { parts: 0, head: 1 } as const;
export const PROMPT_WORDS = 2;

/** Bits of the word before a text, below its length: it is JSON, and its characters have two bytes each. */
export const TEXT_BITS = { wide: 1, json: 2 } as const;
export const TEXT_SHIFT = 2;

/** Members of a record that have no place of their own. */
export interface Rest {
  record?: Partial<CallRecord>;
  attempts?: readonly RestOfAttempt[];
}

export interface RestOfAttempt extends Pick<AttemptRecord, "missed"> {
  usage: Partial<Usage>;
}
