/** Operations that only some formats have beside their generation of answers. */
import type { EmbedClient } from "../embed-dialect.ts";
import type { JsonObject } from "../json.ts";
import type { StoredCodec } from "../stored-codec.ts";
import type { SummaryCodec } from "./answer-codec.ts";
import type { HostedCodec } from "./hosted.ts";

export interface Beside {
  /** The operation that counts a request's tokens; absent if the format has none. */
  count?: CountOperation;
  /** How clients of the format ask for embeddings, one codec for each route; all have the same dialect. */
  embeds?: readonly EmbedClient[];
  /** How clients continue stored answers; absent if the format knows no stored answers. */
  stored?: StoredCodec;
  /** Top-level members of a request that name what its provider keeps of the prompt; absent if the format has none. */
  cached?: readonly string[];
  /** How clients have a conversation replaced by a summary; absent if the format has no such request. */
  compaction?: CompactionCodec;
  /** How clients name servers of tools; absent if the format has no words for them. */
  hosted?: HostedCodec;
}

export interface CountOperation {
  /** Path of the route, for example `/v1/messages/count_tokens`. */
  path: string;
  /** Members that a body without them counts as having: only an answer needs them. */
  implied: JsonObject;
  /** The request to count, if the body may hold it in a member. Default: the body. */
  requestOf?(body: JsonObject): JsonObject;
  /** Member of the answer with the count. */
  member: string;
  /** The other members of the answer; absent if there are none. */
  constant?: JsonObject;
  /** JSON schemas of body and answer, for the OpenAPI document. Default: that of a generating body, and any object. */
  schemas?: { request: JsonObject; answer: JsonObject };
}

/**
 * Requests that replace a conversation by an item that stands for it. A provider of the format gets them unchanged; for any
 * other one they become the request for a summary.
 */
export interface CompactionCodec {
  /** Path of the route for such requests alone. */
  path: string;
  /** Appended to the address of a provider of the format for requests of that route. */
  below: string;
  /** Text that occurs in every other request that asks for a compaction: others need not be parsed. */
  mark: string;
  /** Whether a request of the usual route asks for a compaction. */
  asks(body: JsonObject): boolean;
  /** Text that occurs in every request with the item of an earlier compaction. */
  itemMark: string;
  /** Whether a request has such an item that only its vendor can read. */
  hasForeignItem(body: JsonObject): boolean;
  /** The codec for such requests of the usual route. */
  trigger: SummaryCodec;
  /** The codec for requests of the route of their own. */
  route: SummaryCodec;
  /** JSON schemas of body and answer of the route, for the OpenAPI document. */
  schemas: { request: JsonObject; answer: JsonObject };
}
