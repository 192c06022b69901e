/** What a fake upstream can answer: well-formed answers, and every way of going wrong. */

/** A piece of a body, or a pause of so many milliseconds (0: one turn of the event loop). */
export type Piece = string | Uint8Array | { wait: number };
export type Pieces = Iterable<Piece> | AsyncIterable<Piece>;

export interface Answer {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string> | [string, string][];
  /** Text and bytes are sent with their length; pieces are sent one by one, each as one chunk. */
  body?: string | Uint8Array | Pieces;
  /** `close`: neither length nor chunks, the end of the connection ends the body. */
  framing?: "length" | "chunked" | "close";
  /** Announced length when `framing` is `length` and it shall not be the true one. */
  length?: number;
  /**
   * What comes after the body. `whole`: it is finished as its framing demands and the connection stays open.
   * `fin`, `rst`: the connection is closed or reset without finishing. `stall`: nothing more comes, ever.
   */
  ending?: "whole" | "fin" | "rst" | "stall";
}

/** Bytes straight onto the connection, with no head and no framing but what they hold. */
export interface RawAnswer {
  raw: Pieces;
  ending: "whole" | "fin" | "rst" | "stall";
}

const SSE_HEADERS = { "content-type": "text/event-stream; charset=utf-8" };

/** A JSON answer. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}

/** An event stream in these pieces, properly ended. */
export function sse(pieces: Pieces, headers: Record<string, string> = {}): Answer {
  return { headers: { ...SSE_HEADERS, ...headers }, body: pieces, framing: "chunked" };
}

/** An event stream that is cut behind these pieces. What was written has time to arrive before a reset. */
export function cut(pieces: Pieces, ending: "fin" | "rst"): Answer {
  return { ...sse(settled(pieces)), ending };
}

/** An event stream that says these pieces and then nothing, with the connection open. */
export function stalled(pieces: Pieces): Answer {
  return { ...sse(pieces), ending: "stall" };
}

/** An HTML page, as a proxy in front of a vendor answers. */
export function html(status: number, body = "<!doctype html><html><h1>Bad gateway</h1></html>"): Answer {
  return { status, headers: { "content-type": "text/html; charset=utf-8" }, body };
}

export function redirect(status: number, location: string): Answer {
  return { status, headers: { location, "content-type": "text/plain" }, body: "moved" };
}

/** No head, no byte, until the other side leaves. */
export function silence(): Promise<Answer> {
  return new Promise(() => {});
}

/** The same pieces, a pause of `wait` milliseconds behind each. */
export function* paced(pieces: Iterable<string | Uint8Array>, wait: number): Generator<Piece> {
  for (const piece of pieces) {
    yield piece;
    yield { wait };
  }
}

/** Pieces without an end, `wait` milliseconds apart, until the other side leaves. */
export function* endless(piece: string, wait: number): Generator<Piece> {
  for (;;) {
    yield piece;
    yield { wait };
  }
}

async function* settled(pieces: Pieces): AsyncGenerator<Piece> {
  yield* pieces;
  yield { wait: 3 };
}
