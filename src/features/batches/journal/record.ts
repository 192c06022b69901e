/**
 * The records of a journal and their bytes: length and CRC-32 of the JSON as 32-bit numbers, low byte first, then the JSON. The
 * checksum is CRC-32 rather than CRC-32C, because Bun has it built in; both find a record that was not written whole.
 */
import { type Json, isObject, parseJson } from "../../../core/json.ts";
import type { Ending, State } from "../batch.ts";

/** The first record of a runner: up to which byte it has read each earlier journal, by fencing number. */
export interface Took {
  readonly t: "took";
  readonly journals: Readonly<Record<string, number>>;
}

/** Attempt `a` of line `n` may go out, as a call of the ledger. Lines and attempts count from 1. */
export interface Start {
  readonly t: "start";
  readonly n: number;
  readonly a: number;
  readonly call: string;
}

/** The part of budgets that the attempt needs is held. */
export interface Held {
  readonly t: "held";
  readonly n: number;
  readonly a: number;
}

/** Where the result of a line went: the results, the errors, or nowhere because another attempt follows. */
export type Goal = "out" | "err" | "again";

/** The attempt has ended; its result is at `off` in the file of the same runner. */
export interface End {
  readonly t: "end";
  readonly n: number;
  readonly a: number;
  readonly to: Goal;
  /** Bytes; `len` includes the line break. Both are 0 for `again`. */
  readonly off: number;
  readonly len: number;
  /** Nano-dollars as a decimal number. */
  readonly cost: string;
  /** How the line ended; absent: `done` for a result, `failed` for an error. */
  readonly e?: Ending;
  /** Tokens: input, the part of it that was cached, output, the part of it that was reasoning. Absent: none. */
  readonly u?: readonly [input: number, cached: number, output: number, reasoning: number];
}

/** The state of the batch at a time, in milliseconds since 1970. */
export interface StateAt {
  readonly t: "state";
  readonly s: State;
  readonly at: number;
}

/** Lines go to a provider as a batch of its own. Written before it is created: its mark finds it, if the answer is lost. */
export interface SubBegins {
  readonly t: "sub";
  /** Number of the sub-batch in its batch, from 1. */
  readonly k: number;
  /** Ranges of lines, both ends inclusive. */
  readonly lines: readonly (readonly [from: number, to: number])[];
  /** Name of the deployment. */
  readonly provider: string;
  readonly mark: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The provider has created it. */
export interface SubMade {
  readonly t: "sub-id";
  readonly k: number;
  readonly id: string;
}

/** The provider does not have it, or has refused it as a whole: its lines go on without it. */
export interface SubGone {
  readonly t: "sub-gone";
  readonly k: number;
}

export type SubRecord = SubBegins | SubMade | SubGone;

export type JournalRecord = Took | Start | Held | End | StateAt | SubRecord;

/** Bytes in front of the JSON. */
export const HEAD_BYTES = 8;

/** Bytes that a record may have; more of them are no length but garbage. */
const MOST_BYTES = 16 * 1024 * 1024;

export function encodeRecord(record: JournalRecord): Uint8Array {
  const json = JSON.stringify(record);
  const length = Buffer.byteLength(json);
  const bytes = Buffer.alloc(HEAD_BYTES + length);
  bytes.write(json, HEAD_BYTES);
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt32LE(Bun.hash.crc32(bytes.subarray(HEAD_BYTES)), 4);
  return bytes;
}

/** The bytes of the record that begins with `head`; undefined if they begin none. */
export function lengthOf(head: Buffer): number | undefined {
  const length = head.readUInt32LE(0);
  return length > 0 && length <= MOST_BYTES ? HEAD_BYTES + length : undefined;
}

/** @param bytes as many as `lengthOf` says @returns undefined if they are not those that were written */
export function decodeRecord(bytes: Buffer): JournalRecord | undefined {
  const body = bytes.subarray(HEAD_BYTES);
  if (bytes.readUInt32LE(4) !== Bun.hash.crc32(body)) return undefined;
  const json: Json | undefined = parseJson(body.toString("utf8"));
  return isObject(json) ? (json as unknown as JournalRecord) : undefined;
}
