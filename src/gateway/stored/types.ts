/** The types of stored answers that the gateway shares, in a file of their own to avoid import circles. */
import type { Attempt, Call } from "../../core/call.ts";
import type { CodecContext } from "../../core/context.ts";
import type { ClientCodec } from "../../core/format.ts";
import type { StoredCodec } from "../../core/stored-codec.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Plan } from "../routing/plan.ts";

/** Who stores the answer of an attempt. */
export type Keeper = "provider" | "weir" | "none";

/** Status of an answer that its provider generates in the background: its tokens have not been counted. */
export const RUNNING = "in_progress";

/**
 * The stored answers of one call: the answer that it continues, the items that it refers to, and who stores its
 * answer. Each attempt gets the request that its target understands: a provider that stores answers gets its own ids, every
 * other one the stored items in their place.
 */
export interface StoredCall {
  readonly codec: StoredCodec;
  /** Name of the deployment that alone can continue the conversation, if there is one. */
  readonly pin: string | undefined;
  /** The stored items that an attempt adds to the request where its target does not know their ids. */
  readonly added: readonly JsonObject[];
  /** Id of the conversation at weir that the request continues; null once it could not be extended. */
  readonly conversation: string | null | undefined;
  /** The client wants weir to store the answer: in a conversation, its items are kept also without that. */
  readonly stores: boolean;
  /** weir keeps answers, or where they are. */
  readonly canKeep: boolean;
  /**
   * The part of a plan that may serve the call: if the conversation is pinned, one deployment in the client's format, without
   * a fallback.
   * @throws GatewayError `invalid-request` if the model is not served there
   */
  narrow(plan: Plan): Plan;
  keeperOf(attempt: Attempt): Keeper;
  /**
   * The request for a translated attempt, with the stored items.
   * @throws GatewayError `invalid-request` if weir does not have the answer that it continues, or an item
   */
  expanded(attempt: Attempt): JsonObject;
  /**
   * The request with the stored items, for plugins before the first attempt.
   * @throws as {@link expanded}
   */
  previewed(context: CodecContext): JsonObject;
  /**
   * The request for a native attempt; `undefined` if the target gets the client's bytes.
   * @throws as {@link expanded}
   */
  detached(attempt: Attempt): JsonObject | undefined;
  /** The request for an answer that weir reads in the client's format and writes anew. */
  converted(attempt: Attempt): JsonObject;
  /**
   * Stores an answer. Never rejects.
   * @param answer the whole answer, as the client gets it
   * @returns whether it is stored; if not, the attempt has a loss
   */
  keep(answer: JsonObject, attempt: Attempt): Promise<boolean>;
  /** weir remembers the items of the provider's answers: another key must not refer to them. */
  readonly remembersItems: boolean;
  /** Records that the provider stores an answer, so that later requests go to the same deployment. Never rejects. */
  keepOrigin(id: string, attempt: Attempt, origin?: VendorRecord): Promise<boolean>;
}

/** weir's record of an answer that the provider stores. */
export interface VendorRecord {
  /** The provider generates it in the background. */
  isRunning?: boolean;
  /** Ids of its items. */
  items?: Iterable<string>;
}

/** A request about one stored answer. */
export interface AnswerRequest {
  call: Call;
  format: { id: string; client: ClientCodec };
  /** The id in the path, decoded. */
  id: string;
  query: URLSearchParams;
}
