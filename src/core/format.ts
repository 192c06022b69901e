/**
 * A format: a wire language, written once in both directions. The *client* face decodes requests and encodes answers,
 * the *upstream* face the reverse. A format without an upstream face cannot be a provider's language, one without a
 * client face cannot be a route.
 */
import type { Call } from "./call.ts";
import type { ChatRequest } from "./chat.ts";
import type { GatewayError } from "./error.ts";
import type { ChatEvent, FinishReason, Usage } from "./events.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Target } from "./provider.ts";

export interface Format {
  /** `chat-completions`, `messages`. */
  id: string;
  client?: ClientCodec;
  upstream?: UpstreamCodec;
}

/** What is read of headers, names in lower case; a `Headers` is one. */
export interface HeaderReader {
  get(name: string): string | null;
  has(name: string): boolean;
  forEach(visit: (value: string, name: string) => void): void;
}

/** One unit of a streamed body: an SSE record. `data` is its joined data lines. */
export interface Frame {
  event?: string;
  data: string;
}

export interface ClientCodec {
  /** Path of the route, for example `/v1/messages`. */
  path: string;
  /** Path of the route that counts the tokens of a request; absent where the format has none. */
  countPath?: string;
  /** Lower-case names of request headers that only clients of this format send. */
  clientHeaders?: readonly string[];
  /** JSON schema (TypeBox) of the request, open to unknown members at every level. */
  schema: JsonObject;
  /**
   * Holds every rule of the contract over a parsed body (`null` for an optional field counts as absent).
   * @throws GatewayError `invalid-request` with the path of the first fault.
   */
  checkRequest(body: Json): asserts body is JsonObject;
  /** @throws GatewayError on what the canonical request cannot express. */
  decodeRequest(body: JsonObject, call: Call): ChatRequest;
  /** One JSON answer out of a complete run of events. */
  encodeAnswer(events: readonly ChatEvent[], call: Call): JsonObject;
  /** Ends only when the events ended with `message-end`; what the events throw is thrown on. */
  encodeStream(events: AsyncIterable<ChatEvent>, call: Call): AsyncIterable<Frame>;
  /** An error before the first byte. */
  encodeError(error: GatewayError, requestId: string): ErrorAnswer;
  /** An error after the first byte: the last frames of the stream; no terminator follows. */
  encodeStreamError(error: GatewayError, requestId: string): Frame[];
  /** Bytes that keep a quiet stream alive and mean nothing, for example an SSE comment. */
  heartbeat: string;
}

export interface ErrorAnswer {
  status: number;
  /** Lower-case names; without the request id and the content type, which every answer has. */
  headers: Record<string, string>;
  body: JsonObject;
}

export interface UpstreamCodec {
  /** Writes the body for the upstream; records on the call what is not carried over as it was. */
  encodeRequest(request: ChatRequest, call: Call): JsonObject;
  /** @throws GatewayError `upstream` when the body is not an answer of this format. */
  decodeAnswer(body: JsonObject, call: Call): Iterable<ChatEvent>;
  /** @throws GatewayError on an error frame, and when the stream ends before its answer does. */
  decodeStream(frames: AsyncIterable<Frame>, call: Call): AsyncIterable<ChatEvent>;
  /**
   * For the native lane: the body without what a gateway sealed for another vendor. Called only when the
   * bytes hold a sealed value; absent when the format has no place for one.
   */
  withoutSealed?(body: JsonObject, call: Call): JsonObject;
  /** What a failed status and its body (at most 64 KB of text) mean. */
  decodeError(status: number, headers: HeaderReader, body: string): GatewayError;
  /**
   * Whether the body of a failed status has the shape that this format's clients read. The native lane passes such a body
   * on unchanged and words any other anew. Absent: it passes every JSON object on.
   */
  isErrorBody?(body: JsonObject): boolean;
  /** What the native lane sees of the bytes it passes on. */
  watch: StreamObserver;
  /**
   * For the native lane: top-level members that the target knows under another name only, as pairs of the client's name
   * and the target's. A host ignores a name that it does not know.
   */
  renamedMembers?(target: Target): readonly (readonly [from: string, to: string])[];
  /** How a stream is asked for its token counts, where a format leaves that to the request. */
  usageRequest?: UsageRequest;
  /** Lower-case names of the client's headers that go upstream in the native lane; `x-*` ends in a wildcard. */
  requestHeaders: readonly string[];
  /** Lower-case names of the upstream's headers that reach the client in the native lane. */
  answerHeaders: readonly string[];
}

/** How the streams of a format are asked for token counts, for clients that did not ask. */
export interface UsageRequest {
  /** The top-level member that asks. */
  member: string;
  /** The member with the question put into it; `undefined` when the client asks already. @param given its value, if any */
  ask(given: Json | undefined): Json | undefined;
  /** Whether an event of the stream exists only as the answer to the question. */
  isAnswer(frame: Frame): boolean;
}

/**
 * How the native lane observes an answer without changing it. Of a stream only the events that contain one of the
 * `marks` are parsed; the rest passes unread.
 */
export interface StreamObserver {
  /** Byte sequences (ASCII) of which at least one stands in every event worth reading. */
  marks: readonly string[];
  /** Reads one marked event into what was seen so far. */
  frame(frame: Frame, seen: StreamSummary): void;
  /** Reads a whole JSON answer. */
  answer(body: JsonObject, seen: StreamSummary): void;
  /** The event that ends a stream, as bytes; the client of a finished answer gets it when the provider never sends it. */
  terminator?: string;
}

/** What was seen of a passing answer. */
export interface StreamSummary {
  usage?: Usage;
  finish?: FinishReason;
  /** Every choice seen so far has its finish reason: only usage and the terminator are still due. */
  finished?: boolean;
  /** The terminator passed (`[DONE]`, `message_stop`): nothing can follow. */
  terminated: boolean;
  /** The answer is whole even if the terminator never comes (a finish reason for each choice was seen). */
  complete: boolean;
  /** The upstream reported an error inside the stream. */
  error?: GatewayError;
}
