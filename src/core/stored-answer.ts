/**
 * Answers that weir keeps for its clients, so that a later request can continue one by its id instead of repeating the
 * conversation. The format of the client writes and reads the items; the store treats them as opaque JSON.
 */
import type { JsonObject } from "./json.ts";

/** One input or output item of a stored answer. */
export interface StoredItem {
  /** The item's id, unique in its answer. */
  id: string;
  value: JsonObject;
}

/** Bytes that a part of the gateway keeps beside an answer. `id`: the name of the part. */
export interface AnswerNote {
  id: string;
  value: Uint8Array;
}

/** Stands for the value of an item that the provider stores; weir keeps its id alone. */
const HELD: JsonObject = {};

/** An item that the provider stores, as weir remembers it. */
export function heldItem(id: string): StoredItem {
  return { id, value: HELD };
}

/** Whether the provider has the item, and weir its id alone. */
export function isHeld(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}

/** A stored answer, or only its origin if the provider itself stores the answer. */
export interface StoredAnswer {
  id: string;
  /** Permanent id of the gateway key that made the request (`config:NAME`); empty while the gateway has no keys. */
  owner: string;
  /** Name of the deployment that stores the answer; absent if weir stores it. */
  deployment?: string;
  /** Id of the answer that this one continues. */
  parent?: string;
  /** The model name as the client sent it. */
  model: string;
  /** `completed` or `incomplete`; weir stores no other answers. */
  status: string;
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970; the answer is gone from then on. */
  expires: number;
  /** The answer without its output; absent if the provider stores the answer. */
  body?: JsonObject;
  /**
   * The items of this request alone, without those of the answers that it continues. If the provider stores the answer: the ids of
   * the items that the client has seen.
   */
  input: readonly StoredItem[];
  output: readonly StoredItem[];
  notes?: readonly AnswerNote[];
}
