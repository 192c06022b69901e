/**
 * A format: a wire language, implemented once for both directions. The *client* codec, which clients need, decodes requests
 * and encodes answers; the *upstream* codec, which providers need, does the reverse.
 */
import type { RateHeaders } from "./limit-figures.ts";
import type { ChatRequest } from "./chat.ts";
import type { ClientHabits } from "./client-habits.ts";
import type { ClientSchemas } from "./client-schemas.ts";
import type { CodecContext, CodecTarget } from "./context.ts";
import type { EmbedClient } from "./embed-dialect.ts";
import type { DefaultEndpoint } from "./default-endpoint.ts";
import type { DocumentedError, GatewayError } from "./error.ts";
import type { ChatEvent } from "./events.ts";
import type { Frame } from "./frame.ts";
import type { HeaderReader } from "./headers.ts";
import type { Json, JsonObject } from "./json.ts";
import type { LeftOut } from "./loss.ts";
import type { ModelListing, ModelMembers, ModelReader } from "./model-listing.ts";
import type { PromptSections } from "./prompt-sections.ts";
import type { SizeMembers } from "./size-members.ts";
import type { StreamObserver } from "./stream-observer.ts";
import type { StoredCodec } from "./stored-codec.ts";
import type { UrlAddress } from "./url-address.ts";

export type { ClientSchemas } from "./client-schemas.ts";
export type { Frame } from "./frame.ts";
export type { StreamObserver, StreamSummary } from "./stream-observer.ts";

export interface Format {
  /** `chat-completions`, `messages`. */
  id: string;
  client?: ClientCodec;
  upstream?: UpstreamCodec;
}

/** The paths of an option in a request. */
export interface SettingMember {
  /** Spellings of one member: weir writes the first, or the one in a group that the client has. */
  at: readonly string[];
  /** Other members by which a client decides the same. */
  unless?: readonly string[];
}

/** Where a request has the options that the config can set by model. */
export type SettingMembers = Readonly<
  Partial<Record<"temperature" | "topP" | "maxTokens" | "reasoningEffort", SettingMember>>
>;

export interface ClientCodec extends ClientHabits {
  /** Path of the route, for example `/v1/messages`; with an {@link UrlAddress} that of JSON answers. */
  path: string;
  /** How the URL names the model and selects a stream; absent if the body has members for them. */
  address?: UrlAddress;
  /** Other beginnings of its paths in place of `/v1`. `{model}` is a segment with the model, which replaces that of the body. */
  bases?: readonly string[];
  /** The operation that counts a request's tokens; absent if the format has none. */
  count?: CountOperation;
  /** How clients of the format ask for embeddings, one codec for each route; all have the same dialect. */
  embeds?: readonly EmbedClient[];
  /** How `GET …/models` lists models for clients of this format. Default: the list of all other clients. */
  models?: ModelListing;
  /** The entry of a model for clients of the format in the list of all other clients. */
  modelMembers?: ModelMembers;
  /** Lower-case names of request headers that only clients of this format send. */
  clientHeaders?: readonly string[];
  /** Top-level members that only requests of this format have. `POST /v1/explain` recognises the format by them. */
  clientMembers?: readonly string[];
  /** Lower-case names of the headers that may hold the gateway key, in this order. Default: `authorization`, `x-api-key`. */
  keyHeaders?: readonly string[];
  /**
   * Identifies the conversation that a request belongs to, so that weir keeps it at the deployment that has its prompt in
   * the cache. weir calls it only if there are several deployments.
   */
  sessionOf?(source: SessionSource): string | undefined;
  /** The sections of the prompt, for the reason why a cached prefix was not read again. */
  promptSections?(source: SessionSource): PromptSections | undefined;
  /** Where a request says what decides its cost. Without it weir expects the most that the model can answer. */
  size?: SizeMembers;
  /** Where a request has the options that the config can set by model. */
  settings?: SettingMembers;
  /** How weir's own rate limits are written into response headers; absent if clients of the format read none. */
  rateHeaders?: RateHeaders;
  /** How clients continue stored answers; absent if the format knows no stored answers. */
  stored?: StoredCodec;
  /** How clients have a conversation replaced by a summary; absent if the format has no such request. */
  compaction?: CompactionCodec;
  /** JSON schema (TypeBox) of the request, open to unknown members at every level. */
  schema: JsonObject;
  /** JSON schemas of the other bodies, for the OpenAPI document; without them it describes these as any object. */
  schemas?: ClientSchemas;
  /** The errors that only this format has; the OpenAPI document lists them beside those of every format. */
  errors?: readonly DocumentedError[];
  /**
   * Checks every rule of the format on a parsed body (`null` for an optional field counts as absent).
   * @throws GatewayError `invalid-request` with the path of the first fault.
   */
  checkRequest(body: Json): asserts body is JsonObject;
  /**
   * weir may accept a request because `checkRequest` accepts its outline: the body in which `~` replaces every string of
   * more than 32 bytes, and within members every string of other characters than a to z and `_`, and in which a top-level
   * list has equal objects once. Numbers, names and structure are those of the body. Condition: `checkRequest` accepts no
   * outline of a body that it refuses. So it compares strings only with words that the outline keeps, accepts `~` only
   * where it accepts every string, and neither compares the elements of a list with each other nor counts them beyond one.
   * Absent: weir parses every body.
   */
  judgedByOutline?: boolean;
  /**
   * @param body with an {@link UrlAddress}, its members `model` and `stream` are what the URL says
   * @throws GatewayError for content that the canonical request cannot express
   */
  decodeRequest(body: JsonObject, context: CodecContext): ChatRequest;
  /**
   * The members of a body, at every level, that the canonical request does not have and that no codec reports by itself.
   * Members that cannot change the answer are not among them. weir reports each as a loss when it translates the request.
   * @param sameFormat the provider speaks this format
   */
  leftOut?(body: JsonObject, sameFormat: boolean): Iterable<LeftOut>;
  /** Begins a streamed answer. */
  writeStream(context: CodecContext): AnswerWriter;
  /** One JSON answer from all its events. @throws GatewayError `upstream` if the last one is not `message-end` */
  writeAnswer(events: readonly ChatEvent[], context: CodecContext): JsonObject;
  /** Reads answers that this codec wrote, for tapes; needed where the format has no upstream codec. */
  reader?: Pick<UpstreamCodec, "readStream" | "readAnswer">;
  /** An error answer before the first byte of the stream. */
  encodeError(error: GatewayError, requestId: string): ErrorAnswer;
  /**
   * The last frames of a stream that fails after its first byte; no terminator follows.
   * @param isFirst no event of the answer came before: weir sent only the headers and heartbeats
   * @param broken what the client got before, of a stream that weir passed on
   */
  encodeStreamError(
    error: GatewayError,
    requestId: string,
    isFirst?: boolean,
    broken?: BrokenStream,
  ): Frame[];
  /**
   * The frames of `encodeStreamError` are themselves the end of a stream, and no client takes the answer for complete behind
   * them: weir writes them also behind an error event of the provider, and ends the body. Default false: weir breaks the
   * connection, because some clients ignore the error event.
   */
  errorEndsStream?: boolean;
  /**
   * weir writes the data of the error event once more, without framing and in a piece of its own, before it breaks the
   * connection: some clients find an error only so. Readers of server-sent events skip it.
   */
  repeatsError?: boolean;
  /** Bytes without meaning that keep an idle stream alive, for example an SSE comment. */
  heartbeat: string;
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

/** Differences from the codec of the format for the request for a summary. */
export type SummaryCodec = Pick<ClientCodec, "decodeRequest" | "writeStream" | "writeAnswer">;

/** Bytes that the client got of a stream that weir passed on and that broke off. */
export interface BrokenStream {
  /** Head of the answer as it was at its beginning, for formats whose observer reads it. */
  begun?: JsonObject;
  /** The last complete event. */
  last?: Frame;
}

/** Facts for a writer at the end of an answer. */
export interface AnswerOutcome {
  /** weir stored the answer; `false` if it could not. Absent if the answer is not to be stored. */
  isStored?: boolean;
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

/** The identity of a conversation. The body is not parsed. */
export interface SessionSource {
  headers: HeaderReader;
  /** The body as the client sent it. */
  bytes: Uint8Array;
  /** Byte range of the value of a top-level member. */
  spanOf(name: string): { start: number; end: number } | undefined;
}

/**
 * Writes one streamed answer for the client: canonical events in, frames out. It is synchronous, so that weir translates
 * everything that one network read brought in one pass.
 *
 * weir calls `push` with each event, in order, and `end` once after `message-end`. The events follow the rules in
 * `core/events.ts`; weir has checked those of plugins. If the answer fails, also because one of these methods throws, weir
 * sends the frames of `fail` or `encodeStreamError` and does not use the writer again.
 */
export interface AnswerWriter {
  /**
   * Returns the frames to send now: none while the writer buffers.
   * @throws GatewayError if the client must not take the answer for complete: tool arguments are not JSON
   */
  push(event: ChatEvent): Frame[];
  /**
   * Returns the last frames: the terminator, if the format has one.
   * @throws GatewayError `upstream`, code `stream_incomplete`, if `message-end` has not come: a writer never adds an ending
   */
  end(outcome?: AnswerOutcome): Frame[];
  /** The whole answer as JSON, after `message-end` and before `end`; for formats with {@link ClientCodec.stored}. */
  answer?(): JsonObject;
  /**
   * The error event, for formats where it depends on the frames before it, for example on their number. Absent:
   * `encodeStreamError` of the codec writes it.
   */
  fail?(error: GatewayError): Frame[];
}

export interface ErrorAnswer {
  status: number;
  /** Lower-case names. weir adds request id and content type to every answer. */
  headers: Record<string, string>;
  body: JsonObject;
}

export interface UpstreamCodec extends ModelReader {
  /** The URL names the model and selects a stream; the body has no members for them. Default false. */
  requestInUrl?: boolean;
  /** A host may send a stream as one JSON array of its records. Default false. */
  streamsAsList?: boolean;
  /** Writes the body for the provider, and reports what is not translated unchanged. */
  encodeRequest(request: ChatRequest, context: CodecContext): JsonObject;
  /** Begins a streamed answer. */
  readStream(context: CodecContext): AnswerReader;
  /** All events of a JSON answer. @throws GatewayError if the body is an error, or no complete answer of this format */
  readAnswer(body: JsonObject, context: CodecContext): ChatEvent[];
  /**
   * For the native lane: the body without values that are bound to another provider. Called only when the body contains a
   * provider-bound value; absent if the format has no field for one. See src/formats/README.md#reasoning-and-signatures.
   */
  withoutSealed?(body: JsonObject, context: CodecContext): JsonObject;
  /** How provider-bound values begin in bodies of the format. Default: `weir1.`. */
  sealedMark?: string;
  /**
   * For the native lane: the body without the reasoning of earlier turns, after the provider refused it; `undefined` if it has
   * none. Absent for formats whose clients repeat such a request themselves.
   */
  withoutReasoning?(body: JsonObject): JsonObject | undefined;
  /**
   * Whether weir must translate a request of the format's own client, because the host lacks a part of the format.
   * @param body parses the body; called only for hosts that lack something
   */
  mustTranslate?(target: CodecTarget, body: () => JsonObject): boolean;
  /**
   * For the native lane: the body without what the host lacks, by the traits of the target; members that stay are the same
   * values. Reports each loss. Called only where the config says what the host can do.
   */
  fit?(body: JsonObject, context: CodecContext): JsonObject;
  /** The error for a failed status and its body (at most 64 KB of text). */
  decodeError(status: number, headers: HeaderReader, body: string): GatewayError;
  /**
   * Whether the body of a failed status has the shape that this format's clients read. The native lane passes such a body
   * on unchanged and words any other anew. Absent: it passes every JSON object on.
   */
  isErrorBody?(body: JsonObject): boolean;
  /** Observes the bytes that the native lane passes through. */
  watch: StreamObserver;
  /**
   * For the native lane: top-level members that the target knows under another name only, as pairs of the client's name
   * and the target's. A host ignores a name that it does not know.
   */
  renamedMembers?(target: CodecTarget): readonly (readonly [from: string, to: string])[];
  /**
   * Appended to the address for a request that counts tokens, or with a colon in front the method in place of the last one
   * (`:countTokens`); only for hosts with the trait `countTokens`.
   */
  countPath?: string;
  /** How the config reaches a host of this format where it says nothing else. */
  endpoint?: DefaultEndpoint;
  /** How a stream is asked for its token counts, where a format leaves that to the request. */
  usageRequest?: UsageRequest;
  /** Lower-case names of the client headers that the native lane forwards; `x-*` is a prefix wildcard. */
  requestHeaders: readonly string[];
  /** Lower-case names of the provider's headers that the native lane forwards to the client. */
  answerHeaders: readonly string[];
}

/**
 * Reads one streamed answer of a provider: frames in, canonical events out (see `core/events.ts` for their order). It is
 * synchronous: weir calls it in the pass in which the bytes of the frame arrived.
 *
 * weir calls `push` with each frame, in order, until it returns `message-end` or throws. After `message-end` weir ignores the
 * rest of the stream and calls neither method again. If the stream ends first, weir calls `end` once.
 */
export interface AnswerReader {
  /**
   * Returns the events that the frame completes: often one, none for a frame without content or while the reader buffers.
   * `message-end` comes with the terminator of the format.
   * @throws GatewayError for an error frame, for a frame that is not of the format or not allowed at its position, and for
   *   a terminator of an answer without content
   */
  push(frame: Frame): ChatEvent[];
  /**
   * The stream ended without a terminator. Returns the remaining events; the last one is `message-end`. weir calls it also
   * when the connection broke after the finish reason.
   * @throws GatewayError `upstream`, code `stream_incomplete`, if the answer is not complete: a reader never adds an ending
   */
  end(): ChatEvent[];
}

/** How weir requests token counts for a stream on behalf of a client that did not request them. */
export interface UsageRequest {
  /** Name of the top-level member that requests the counts. */
  member: string;
  /** The member's new value; `undefined` when the client already requests the counts. @param given its current value, if any */
  ask(given: Json | undefined): Json | undefined;
  /** Whether an event of the stream exists only because the counts were requested. */
  isAnswer(frame: Frame): boolean;
}
