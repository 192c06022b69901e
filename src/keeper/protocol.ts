/** The messages between the gateway's processes and the keeper. The keeper never parses an item: items travel as JSON bytes. */
import type { AdminState } from "../operator/settings.ts";
import type { PageRequest } from "../core/answer-store.ts";
import type { StoredAnswer } from "../core/stored-answer.ts";
import type { BooksDown, BooksUp } from "../ledger/messages.ts";
import type { PackedBatch } from "../ledger/packed.ts";

/** An item with its value as JSON in UTF-8. */
export interface PackedItem {
  id: string;
  value: Uint8Array;
}

/** A stored answer with all values as JSON in UTF-8. */
export interface PackedAnswer extends Omit<StoredAnswer, "body" | "input" | "output"> {
  body?: Uint8Array;
  input: readonly PackedItem[];
  output: readonly PackedItem[];
}

export type PackedLink = Pick<PackedAnswer, "id" | "deployment" | "input" | "output" | "notes">;

/** As {@link Amendment}. */
export interface PackedAmendment {
  add: readonly PackedItem[];
  notes?: readonly PackedItem[];
  drop?: string;
  body?: Uint8Array;
  expires?: number;
}

/** An answer of one owner. */
export interface Address {
  id: string;
  owner: string;
}

/** Requests of the gateway, by the name of the operation. */
export interface Asks {
  /** `until`: the answer must not be stored after this time. Milliseconds since 1970. */
  put: { answer: PackedAnswer; until: number };
  /** `item`: of the items this one alone, of the input; an empty text: none. */
  get: Address & { item?: string };
  chain: Address;
  items: { ids: readonly string[]; owner: string };
  inputItems: Address & { page: PageRequest };
  /** `until`: as of `put`. `again`: another keeper may have made the change, and not said so. */
  amend: Address & PackedAmendment & { until: number; again?: boolean };
  list: { prefix: string; owner: string; limit: number; after: string };
  delete: Address;
  /** Undoes a `put` whose outcome its sender no longer waits for, or with `items` an `amend` that added those. */
  retract: Address & { items?: readonly string[] };
}

export interface Results {
  put: "stored" | "too-large" | "late";
  get: PackedAnswer | undefined;
  chain: readonly PackedLink[] | "too-long" | undefined;
  items: readonly PackedItem[];
  inputItems: { items: readonly PackedItem[]; hasMore: boolean } | undefined;
  amend: "stored" | "too-large" | "late" | "taken" | "unknown";
  list: readonly PackedAnswer[];
  delete: boolean;
  retract: boolean;
}

export type Op = keyof Asks;

/** An operation and what it is asked for. */
export type Ask = { [Name in Op]: { op: Name } & Asks[Name] }[Op];

export interface AnswerAsk {
  /** Number of the request; its result has the same number. */
  number: number;
  ask: Ask;
}

/** The result of a request, or one sentence that says why it failed. */
export interface AnswerReply {
  number: number;
  value?: Results[Op];
  error?: string;
}

/**
 * A link carries requests for stored answers, messages about books, and those of features. Records travel as bytes. `admin` comes once
 * after the hello, and at each change.
 */
export type ToKeeper = AnswerAsk | { books: BooksUp } | { packed: PackedBatch } | FeatureMessage;
export type FromKeeper = AnswerReply | { books: BooksDown } | { admin: AdminState } | FeatureMessage;

/** A message from the part of a feature in one process to its part in the other. */
export interface FeatureMessage {
  feature: string;
  message: unknown;
}
