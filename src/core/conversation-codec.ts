/** How clients of a format keep conversations at weir: lists of items which requests continue and their answers extend. */
import type { GatewayError } from "./error.ts";
import type { JsonObject } from "./json.ts";
import type { StoredItem } from "./stored-answer.ts";

/** What a client says of a conversation that it makes, changes or extends. */
export interface ConversationAsk {
  /** Absent: the client says nothing. */
  metadata?: JsonObject;
  items: readonly JsonObject[];
}

export interface ConversationCodec {
  /** Path of the conversations; their items are below it. */
  path: string;
  /** The id of a new conversation. @param callId the call's id, unique across all calls */
  idOf(callId: string): string;
  /** Whether weir made the id of a conversation: no vendor has that one. */
  isOwnId(id: string): boolean;
  /** The id of the conversation that a request names. @throws GatewayError `invalid-request` if it also continues an answer */
  named(body: JsonObject): string | undefined;
  /** Reads the body of an operation. @param needed member without which the operation means nothing @throws GatewayError `invalid-request` */
  read(body: JsonObject, needed?: "metadata" | "items"): ConversationAsk;
  /** A request with these items, as the format's checks and its `StoredCodec` read it. */
  requestOf(items: readonly JsonObject[]): JsonObject;
  /** The items in the body of an operation; none if they are not valid. */
  itemsIn(body: JsonObject): readonly JsonObject[];
  /** The body of an operation with the items of a request. */
  withItemsOf(body: JsonObject, request: JsonObject): JsonObject;
  /** Such a request with the stored items in place of references. @param items by id */
  resolved(body: JsonObject, items: ReadonlyMap<string, JsonObject>): JsonObject;
  /**
   * The request with items that a provider understands without looking them up: it stores neither the conversation nor
   * the answers in it.
   */
  portable(body: JsonObject): JsonObject;
  /** The conversation as clients get it. @param created milliseconds since 1970 */
  object(id: string, created: number, metadata: JsonObject): JsonObject;
  /** Items with new ids, in place of those that an item of the conversation has already. @param callId as in `idOf` */
  renamed(items: readonly StoredItem[], callId: string): readonly StoredItem[];
  /** An item as clients get it. */
  item(item: StoredItem): JsonObject;
  /** The answer to a deletion. */
  deleted(id: string): JsonObject;
  /** The error for a conversation that weir does not have for the client's key. @param hint a sentence for the client */
  unknown(id: string, hint?: string): GatewayError;
  /** The error for an item that a conversation does not have. */
  unknownItem(id: string): GatewayError;
}
