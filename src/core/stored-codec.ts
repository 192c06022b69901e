/** How clients of a format continue stored answers: the part of a client codec that only some formats have. */
import type { CodecContext } from "./context.ts";
import type { ConversationCodec } from "./conversation-codec.ts";
import type { GatewayError } from "./error.ts";
import type { Frame } from "./frame.ts";
import type { JsonObject } from "./json.ts";
import type { StoredAnswer, StoredItem } from "./stored-answer.ts";

/** The part of a request about stored answers. */
export interface StoredAsk {
  /** Id of the answer that the request continues. */
  previous?: string;
  /** Ids of the stored items that the request refers to. */
  references: readonly string[];
  /** Ids of items that the request names without all of their content: a provider that has them adds the rest. */
  partial: readonly string[];
  /** `false`: weir must not store the answer. `true`: the client asks for it. Absent: the client says nothing. */
  store?: boolean;
}

/** The items that a request refers to. */
export interface FoundItems {
  /** The items of the answers that the request continues, the oldest first. */
  before: readonly JsonObject[];
  /** Items by id. */
  items: ReadonlyMap<string, JsonObject>;
}

/** How clients of a format continue stored answers. Bodies given to its methods have passed `checkRequest`. */
export interface StoredCodec {
  /**
   * Top-level members of a request: the id of the answer that it continues, whether to store its answer, and
   * the conversation that the provider keeps, if the format has such.
   */
  members: { previous: string; store: string; conversation?: string };
  /** Text that occurs in every request that refers to stored items: others need not be parsed. */
  referenceMark: string;
  /** Whether weir made the id of an answer: no vendor has that answer. Absent: it cannot be seen. */
  isOwnId?(id: string): boolean;
  /** Last segments of the paths below the one of an answer; `inputItems` is absent if clients do not list them. */
  paths: { cancel: string; inputItems?: string };
  /** Query parameters of clients of other services, which no provider of the format gets. */
  ignoredParameters?: readonly string[];
  /** Reads what a request asks. @throws GatewayError `invalid-request` */
  ask(body: JsonObject): StoredAsk;
  /**
   * The request with the stored items in place of references, and behind those of the answers that it continues.
   * References to unknown items stay; `decodeRequest` leaves them out and reports them.
   */
  expand(body: JsonObject, found: FoundItems, context: CodecContext): JsonObject;
  /**
   * An expanded request for a provider that does not know weir's ids: without them.
   * @param storesThere whether the provider may store the answer if the client wants that
   */
  detached(body: JsonObject, storesThere: boolean): JsonObject;
  /** The items of a request as weir stores them, with an id each. @param answerId ids of items derive from it and their position */
  inputItems(body: JsonObject, answerId: string): readonly StoredItem[];
  /** Splits an answer into what weir stores of it; `undefined` for an answer that failed or has not ended. */
  split(answer: JsonObject): Pick<StoredAnswer, "id" | "status" | "body" | "output"> | undefined;
  /** The answer as the client got it, from what weir stored. */
  join(stored: StoredAnswer): JsonObject;
  /** The answer, saying whether weir stored it. @param conversation id of the conversation that it belongs to; null: of none, although the client named one */
  withStored(answer: JsonObject, isStored: boolean, conversation?: string | null): JsonObject;
  /** The ids of the items in an answer, in an event of its stream, or in a page of items. */
  itemIds(value: JsonObject): readonly string[];
  /** Follows a streamed answer that weir passes on as the provider wrote it. */
  follow(): AnswerFollower;
  /** The conversations that weir keeps; absent: the format has none. */
  conversations?: ConversationCodec;
  /** A page of input items as clients get it. */
  listItems(items: readonly StoredItem[], hasMore: boolean): JsonObject;
  /** The answer to a deletion. */
  deleted(id: string): JsonObject;
  /** The error for an answer that the client asks for and weir does not have. */
  unknownAnswer(id: string): GatewayError;
  /** The error for a request that continues an answer that weir does not have. @param hint a sentence for the client */
  unknownPrevious(id: string, hint?: string): GatewayError;
  /** The error for a request that refers to an item which the client's key has not received. @param hint a sentence for the client */
  unknownItem(id: string, hint?: string): GatewayError;
}

/** Collects a streamed answer from its events, and corrects what they say of its storage. */
export interface AnswerFollower {
  /** ASCII texts; every event that the follower needs contains at least one. */
  marks: readonly string[];
  /** Reads one event with a mark. @returns the whole answer if the event is the last one */
  read(frame: Frame): JsonObject | undefined;
  /**
   * The event, saying whether weir stores the answer; `undefined` if it says so already, or says nothing of it.
   * @param conversation as in `StoredCodec.withStored`
   */
  withStored(frame: Frame, isStored: boolean, conversation?: string | null): Frame | undefined;
}
