/**
 * How a streamed answer is written into the body. All sources give server-sent events; a client may want a JSON array, or one
 * JSON value in each line.
 */
import type { Call } from "../../core/call.ts";
import type { AnswerFraming } from "../../core/format.ts";
import type { Frame } from "../../core/frame.ts";
import { SseParser, writeFrame } from "../../stream/sse.ts";

/** Bytes of weir's own (`heartbeat`, `filler`) are written as they are: only bytes of the source go through `piece`. */
export interface StreamBody {
  readonly contentType: string;
  /** Bytes without meaning that keep an idle stream alive. */
  readonly heartbeat: Uint8Array;
  /** Bytes for behind an error, without meaning to most clients. */
  readonly filler: Uint8Array;
  /** The bytes for a piece of the source: complete events, as a rule. */
  piece(bytes: Uint8Array): Uint8Array;
  /** The error that ends the body. @param before text that ends an event whose beginning was sent */
  error(frames: readonly Frame[], before: string): Uint8Array;
  /** The last bytes of the body after the last piece, if there are any. */
  end(): Uint8Array | undefined;
}

const encoder = new TextEncoder();
/** An SSE comment. */
const COMMENT = encoder.encode(":\n\n");

export function streamBody({ asArray }: Pick<Call, "asArray">, framing: AnswerFraming): StreamBody {
  if (framing.lines) return new LineBody(framing);
  return asArray ? new ArrayBody() : new EventBody(framing);
}

const NO_BYTES = new Uint8Array(0);

/** Bytes that are no events, as they come: there is nothing without meaning between them. */
export const BINARY_BODY: StreamBody = {
  contentType: "application/octet-stream",
  heartbeat: NO_BYTES,
  filler: NO_BYTES,
  piece: (bytes) => bytes,
  error: () => NO_BYTES,
  end: () => undefined,
};

/** Server-sent events, as they come. */
class EventBody implements StreamBody {
  readonly contentType = "text/event-stream; charset=utf-8";
  readonly heartbeat: Uint8Array;
  readonly #repeatsError: boolean;
  filler = COMMENT;

  constructor({ heartbeat, repeatsError = false }: AnswerFraming) {
    this.heartbeat = encoder.encode(heartbeat);
    this.#repeatsError = repeatsError;
  }

  piece(bytes: Uint8Array): Uint8Array {
    return bytes;
  }

  error(frames: readonly Frame[], before: string): Uint8Array {
    if (this.#repeatsError) this.filler = encoder.encode(`${frames.at(-1)!.data}\n\n`);
    return encoder.encode(before + frames.map(writeFrame).join(""));
  }

  end(): undefined {}
}

/** The data of each event in a line of its own (NDJSON). */
class LineBody implements StreamBody {
  readonly contentType = "application/x-ndjson";
  /** White space in front of the next value: some clients parse an empty line as JSON, and fail. */
  readonly heartbeat: Uint8Array;
  readonly filler: Uint8Array;
  readonly #events = new SseParser();

  constructor({ heartbeat }: AnswerFraming) {
    this.heartbeat = this.filler = encoder.encode(heartbeat);
  }

  /** Comments become white space. */
  piece(bytes: Uint8Array): Uint8Array {
    const lines = linesOf(this.#events.push(bytes));
    return lines === "" ? this.heartbeat : encoder.encode(lines);
  }

  error(frames: readonly Frame[]): Uint8Array {
    return encoder.encode(linesOf(frames));
  }

  end(): undefined {}
}

function linesOf(frames: readonly Frame[]): string {
  return frames.map(({ data }) => `${data}\n`).join("");
}

/** White space between the tokens of JSON. */
const LINE_BREAK = encoder.encode("\n");

/** One JSON array with the data of each event as an element. */
class ArrayBody implements StreamBody {
  readonly contentType = "application/json; charset=utf-8";
  readonly heartbeat = LINE_BREAK;
  readonly filler = LINE_BREAK;
  readonly #events = new SseParser();
  #isBegun = false;

  /** Comments become white space. */
  piece(bytes: Uint8Array): Uint8Array {
    const text = this.#elements(this.#events.push(bytes));
    return text === "" ? LINE_BREAK : encoder.encode(text);
  }

  error(frames: readonly Frame[]): Uint8Array {
    return encoder.encode(`${this.#elements(frames)}]`);
  }

  end(): Uint8Array {
    return encoder.encode(this.#isBegun ? "]" : "[]");
  }

  #elements(frames: readonly Frame[]): string {
    let text = "";
    for (const { data } of frames) {
      text += (this.#isBegun ? ",\r\n" : "[") + data;
      this.#isBegun = true;
    }
    return text;
  }
}
