/** Reads the requests of a format's clients, and writes the answers and errors that they get. */
import type { ChatRequest } from "../chat.ts";
import type { CodecContext } from "../context.ts";
import type { GatewayError } from "../error.ts";
import type { ChatEvent } from "../events.ts";
import type { Frame } from "../frame.ts";
import type { JsonObject } from "../json.ts";
import type { LeftOut } from "../loss.ts";
import type { ReaderCodec } from "./upstream.ts";

export interface AnswerCodec {
  /**
   * @param body with an address in the URL, its members `model` and `stream` are what the URL says
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
  reader?: Pick<ReaderCodec, "readStream" | "readAnswer">;
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
  /** How streams for the clients are cut into events, kept alive, and ended after an error. */
  framing: AnswerFraming;
}

export interface AnswerFraming {
  /** Bytes without meaning that keep an idle stream alive, for example an SSE comment. */
  heartbeat: string;
  /**
   * A stream is one JSON value in each line (`application/x-ndjson`). Default false: it is server-sent events. `heartbeat` is
   * white space that may be in front of a value.
   */
  lines?: boolean;
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
}

/** Differences from the codec of the format for the request for a summary. */
export type SummaryCodec = Pick<AnswerCodec, "decodeRequest" | "writeStream" | "writeAnswer">;

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
  /** The whole answer as JSON, after `message-end` and before `end`; for formats with stored answers. */
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
