/**
 * A format: a wire language, implemented once for both directions. The *client* codec, which clients need, decodes requests
 * and encodes answers; the *upstream* codec, which providers need, does the reverse. Each is a few values, one for each kind of
 * reader: a function takes the value that it reads, not the whole codec.
 */
import type { AnswerCodec } from "./format/answer-codec.ts";
import type { Beside } from "./format/beside.ts";
import type { RequestFacts } from "./format/facts.ts";
import type { RequestCheck } from "./format/request-check.ts";
import type { ClientRoutes } from "./format/routes.ts";
import type { NativeLaneCodec, ReaderCodec, UpstreamAddress } from "./format/upstream.ts";

export type * from "./format/answer-codec.ts";
export type * from "./format/beside.ts";
export type * from "./format/facts.ts";
export type * from "./format/hosted.ts";
export type * from "./format/request-check.ts";
export type * from "./format/routes.ts";
export type * from "./format/upstream.ts";
export type { ClientSchemas } from "./client-schemas.ts";
export type { Frame } from "./frame.ts";
export type { StreamObserver, StreamSummary } from "./stream-observer.ts";

export interface Format {
  /** `chat-completions`, `messages`. */
  id: string;
  /**
   * What its requests ask of a model, if not an answer to a conversation: a provider serves the format by `does`, and no model for
   * conversations is asked.
   */
  kind?: "completion";
  /**
   * A top-level member with a text that only models for completions can take, in a format for conversations: such a request goes to
   * one if the provider has it.
   */
  kindMember?: string;
  client?: ClientCodec;
  upstream?: UpstreamCodec;
}

/** A format for clients. */
export interface ClientCodec {
  /** Where clients ask, and how weir recognises their requests. */
  routes: ClientRoutes;
  /** Checks of a request before weir accepts it. */
  request: RequestCheck;
  /** Reads requests, and writes answers and errors. */
  codec: AnswerCodec;
  /** The cost, conversation and options of a request. */
  facts: RequestFacts;
  /** The operations that only some formats have. */
  beside: Beside;
}

/** A format for providers. */
export interface UpstreamCodec {
  /** Where hosts listen, and which headers pass. */
  address: UpstreamAddress;
  /** Writes requests, and reads answers and errors. */
  codec: ReaderCodec;
  /** Views and edits of the bytes that the native lane passes on. */
  native: NativeLaneCodec;
}
