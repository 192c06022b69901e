/** Where weir keeps answers: the port that the keeper implements and the gateway uses. */
import type { JsonObject } from "./json.ts";
import type { AnswerNote, StoredAnswer, StoredItem } from "./stored-answer.ts";

/** One answer of a chain, the oldest first. */
export type ChainLink = Pick<StoredAnswer, "id" | "deployment" | "input" | "output" | "notes">;

export interface ItemPage {
  items: readonly StoredItem[];
  hasMore: boolean;
}

export interface PageRequest {
  /** Maximum number of items. */
  limit: number;
  order: "asc" | "desc";
  /** Id of the item before the page. */
  after?: string;
}

/** A change of a stored answer's content. */
export interface Amendment {
  /** Items behind the last input item. */
  add?: readonly StoredItem[];
  /** Notes beside those that are there. */
  notes?: readonly AnswerNote[];
  /** Id of an input item to remove. */
  drop?: string;
  /** Replaces the body. */
  body?: JsonObject;
  /** Milliseconds since 1970; the content expires then, or later if it did so before. */
  expires?: number;
}

/** Most answers in a chain. */
export const MAX_CHAIN = 1000;

/**
 * Where answers are kept. Every method finds only answers of the given owner that have not expired: an answer of another
 * owner and an unknown one cannot be told apart. A store that is closed or broken rejects.
 */
export interface AnswerStore {
  /**
   * Stores an answer; it is durable, and visible to every worker, when the promise resolves.
   * @returns `stored`; `too-large` above the limits of size; `late` if `withinMs` passed first: then the answer is not stored
   */
  put(answer: StoredAnswer, withinMs: number): Promise<"stored" | "too-large" | "late">;
  /** @param item id of the input item that alone is read; an empty text: no item at all. Absent: all items */
  get(id: string, owner: string, item?: string): Promise<StoredAnswer | undefined>;
  /**
   * The answer and all that it continues, the oldest first.
   * @returns `undefined` if one of them is missing; `too-long` for more than {@link MAX_CHAIN}
   */
  chain(id: string, owner: string): Promise<readonly ChainLink[] | "too-long" | undefined>;
  /** Items by their ids; ids that are unknown are missing in the map. */
  items(ids: readonly string[], owner: string): Promise<ReadonlyMap<string, JsonObject>>;
  /** A page of the input items of one answer; `undefined` if there is no such answer, or no item `after`. */
  inputItems(id: string, owner: string, page: PageRequest): Promise<ItemPage | undefined>;
  /**
   * Changes the content under one id in one transaction: two changes at once follow each other, and neither loses the other.
   * A change is made once, also where the store ends in between.
   * @param withinMs default: 5 s
   * @returns `unknown` if there is no such content, or no item to remove; `too-large` above the limits of size; `taken` if
   * an item has an id that is there already, and nothing changes; `late` if `withinMs` passed first: then no items are added
   */
  amend(
    id: string,
    owner: string,
    amendment: Amendment,
    withinMs?: number,
  ): Promise<"stored" | "too-large" | "late" | "taken" | "unknown">;
  /**
   * Answers by the beginning of their ids, without their items.
   * @param after ids behind this one alone @returns at most `limit`, in the order of their ids
   */
  list(prefix: string, owner: string, limit: number, after?: string): Promise<readonly StoredAnswer[]>;
  /** @returns whether there was such an answer */
  delete(id: string, owner: string): Promise<boolean>;
}
