/** How weir asks providers of a format, and reads their answers. */
import type { ChatRequest } from "../chat.ts";
import type { CodecContext, CodecTarget } from "../context.ts";
import type { DefaultEndpoint } from "../default-endpoint.ts";
import type { GatewayError } from "../error.ts";
import type { ChatEvent } from "../events.ts";
import type { Frame } from "../frame.ts";
import type { HeaderReader } from "../headers.ts";
import type { Json, JsonObject } from "../json.ts";
import type { ModelReader } from "../model-listing.ts";
import type { StreamObserver } from "../stream-observer.ts";

/** Where hosts of a format listen, and which headers pass between them and clients of the format. */
export interface UpstreamAddress {
  /** How the config reaches a host of this format where it says nothing else. */
  endpoint?: DefaultEndpoint;
  /** The URL names the model and selects a stream; the body has no members for them. Default false. */
  requestInUrl?: boolean;
  /**
   * Appended to the address for a request that counts tokens, or with a colon in front the method in place of the last one
   * (`:countTokens`); only for hosts with the trait `countTokens`.
   */
  countPath?: string;
  /** Lower-case names of the client headers that the native lane forwards; `x-*` is a prefix wildcard. */
  requestHeaders: readonly string[];
  /** Lower-case names of the provider's headers that the native lane forwards to the client. */
  answerHeaders: readonly string[];
  /** How hosts of the format describe models; absent if weir reads nothing of them. */
  models?: ModelReader;
}

/** Writes requests for providers of a format, and reads their answers and errors. */
export interface ReaderCodec {
  /** Writes the body for the provider, and reports what is not translated unchanged. */
  encodeRequest(request: ChatRequest, context: CodecContext): JsonObject;
  /** Begins a streamed answer. */
  readStream(context: CodecContext): AnswerReader;
  /** All events of a JSON answer. @throws GatewayError if the body is an error, or no complete answer of this format */
  readAnswer(body: JsonObject, context: CodecContext): ChatEvent[];
  /** The error for a failed status and its body (at most 64 KB of text). */
  decodeError(status: number, headers: HeaderReader, body: string): GatewayError;
  /** A host may send a stream as one JSON array of its records. Default false. */
  streamsAsList?: boolean;
}

/** Views and edits of the bytes that the native lane otherwise passes on. */
export interface NativeLaneCodec {
  /** Observes the bytes that the native lane passes through. */
  watch: StreamObserver;
  /** How a stream is asked for its token counts, where a format leaves that to the request. */
  usageRequest?: UsageRequest;
  /**
   * The body without values that are bound to another provider. Called only when the body contains a
   * provider-bound value; absent if the format has no field for one. See src/formats/README.md#reasoning-and-signatures.
   */
  withoutSealed?(body: JsonObject, context: CodecContext): JsonObject;
  /** How provider-bound values begin in bodies of the format. Default: `weir1.`. */
  sealedMark?: string;
  /**
   * The body without the reasoning of earlier turns, after the provider refused it; `undefined` if it has
   * none. Absent for formats whose clients repeat such a request themselves.
   */
  withoutReasoning?(body: JsonObject): JsonObject | undefined;
  /**
   * Top-level members that the target knows under another name only, as pairs of the client's name
   * and the target's. A host ignores a name that it does not know.
   */
  renamedMembers?(target: CodecTarget): readonly (readonly [from: string, to: string])[];
  /**
   * The body without what the host lacks, by the traits of the target; members that stay are the same
   * values. Reports each loss. Called only where the config says what the host can do.
   */
  fit?(body: JsonObject, context: CodecContext): JsonObject;
  /**
   * Whether weir must translate a request of the format's own client, because the host lacks a part of the format.
   * @param body parses the body; called only for hosts that lack something
   */
  mustTranslate?(target: CodecTarget, body: () => JsonObject): boolean;
  /**
   * Whether the body of a failed status has the shape that this format's clients read. The native lane passes such a body
   * on unchanged and words any other anew. Absent: it passes every JSON object on.
   */
  isErrorBody?(body: JsonObject): boolean;
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
