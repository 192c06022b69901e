/** What a look saw of one model, beside what weir itself was then. Observations form a chain by their hashes. */
import { createHash } from "node:crypto";
import type { Json } from "../../core/json.ts";

/** weir's own side of an observation: equal sides mean that weir asked the same in the same way. */
export interface OwnSide {
  readonly version: string;
  /** Hash of the files in the folder of plugins. */
  readonly plugins: string;
  /** Hash of {@link parts}. */
  readonly provider: string;
  /** What of the config concerns the provider, as text by its name; no secrets, and of headers the names alone. */
  readonly parts: Readonly<Record<string, string>>;
  /** By question: hash of method, address, names of headers and body, as weir sent them. */
  readonly requests: Readonly<Record<string, string>>;
}

/** What a look saw of a model. */
export interface Seen {
  /** Facts that are the same in each look unless something changes, by their names. */
  readonly facts: Readonly<Record<string, string>>;
  /** Input tokens by question, with those that the provider read from its cache. */
  readonly tokens: Readonly<Record<string, number>>;
  /** Choice by question. */
  readonly answers: Readonly<Record<string, string>>;
  /** What the provider says that the answer to a question costs, in nano-dollars, beside the tokens that it counts. */
  readonly prices: Readonly<
    Record<string, { readonly input: number; readonly output: number; readonly cost: number }>
  >;
  /** Milliseconds until the first byte of each answer, the middle one, and output tokens a second of the stream. */
  readonly speed: { readonly firstByteMs?: number; readonly perSecond?: number };
  /** Why questions have no answer: a clause by question. */
  readonly missing: Readonly<Record<string, string>>;
}

/** An observation before it is in the chain. */
export interface Draft {
  /** When it began. Milliseconds since 1970. */
  readonly at: number;
  /** The tests over time use those of the schedule alone: a person looks when something seems to be wrong. */
  readonly by: "schedule" | "command";
  /** `provider/model`. */
  readonly model: string;
  readonly own: OwnSide;
  readonly seen: Seen;
  /** Nano-dollars. */
  readonly cost: number;
}

export interface Observation extends Draft {
  /** The first digits of {@link hash}. */
  readonly id: string;
  /** Position in the chain, from 1. */
  readonly number: number;
  /** Hash of the observation before it; of the first one 64 zeros. */
  readonly before: string;
  /** SHA-256 over {@link before} and the observation. */
  readonly hash: string;
}

export const NO_HASH = "0".repeat(64);
const ID_DIGITS = 12;

/** Puts an observation behind another one. */
export function chained(draft: Draft, last: Pick<Observation, "number" | "hash"> | undefined): Observation {
  const before = last?.hash ?? NO_HASH;
  const hash = hashOf(before, draft);
  return { ...draft, id: `wit_${hash.slice(0, ID_DIGITS)}`, number: (last?.number ?? 0) + 1, before, hash };
}

/** Whether the hash of an observation is that of its content. */
export function isWhole({ before, hash, ...draft }: Observation): boolean {
  return hashOf(before, draft) === hash;
}

function hashOf(before: string, { at, by, model, own, seen, cost }: Draft): string {
  return sha256(`${before}\n${canonical({ at, by, model, own, seen, cost } as unknown as Json)}`);
}

export function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}

/** JSON with sorted members: equal values have equal texts. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member!)}`);
  return `{${members.join(",")}}`;
}
