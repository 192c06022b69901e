/** Frames: the units of a streamed body, and how a host cuts its body into them. */

/** One unit of a streamed body: an SSE event, a JSON line, a message of an AWS event stream. */
export interface Frame {
  /** Name of the event, where the framing has one. */
  event?: string;
  /** The payload, usually JSON. Data lines of an SSE event are joined with LF. */
  data: string;
}

/** How a host cuts a streamed body into frames. It belongs to the host: two hosts of one format may differ. */
export interface Framing {
  /** A part of the `content-type` of streamed answers. If it is `application/json`, the request decides what the answer is. */
  readonly contentType: string;
  /** A reader for one body. */
  reader(): FrameReader;
}

export interface FrameReader {
  /** Takes the next bytes, and returns the frames that they complete. @throws GatewayError `upstream` for invalid bytes */
  push(bytes: Uint8Array): Frame[];
  /** The last frames of the body. @throws GatewayError `stream_incomplete` if the body ends inside a frame */
  end(): Frame[];
}
