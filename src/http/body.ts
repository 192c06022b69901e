/**
 * Decodes the framing of a body: input is bytes of the connection, output is bytes of the answer. Readers give them to a promise
 * or to a receiver.
 */
import { malformed as malformedAnswer } from "./error.ts";
import type { Framing } from "./head.ts";
import type { ByteReader, Piece, Receiver } from "./types.ts";

const malformed = (what: string) => malformedAnswer(what, "body");

export interface BodyReader {
  /** The body is complete. */
  readonly done: boolean;
  /** The body ends when the connection does. */
  readonly endsWithConnection: boolean;
  /**
   * Decodes a chunk of the connection. Body bytes are added to `out` as views of `chunk`.
   * @returns number of bytes used; fewer than given only if the body ended before the rest
   * @throws HttpError `EPROTO`
   */
  read(chunk: Uint8Array, from: number, out: Uint8Array[]): number;
}

export function createBodyReader(framing: Framing): BodyReader {
  if (framing.kind === "chunked") return new ChunkedReader();
  return new LengthReader(framing.kind === "length" ? framing.length : Number.POSITIVE_INFINITY);
}

/** A body of known length, or one that ends with the connection. */
class LengthReader implements BodyReader {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  get done(): boolean {
    return this.#left === 0;
  }

  get endsWithConnection(): boolean {
    return this.#left === Number.POSITIVE_INFINITY;
  }

  read(chunk: Uint8Array, from: number, out: Uint8Array[]): number {
    const count = Math.min(this.#left, chunk.length - from);
    if (count > 0) out.push(count === chunk.length ? chunk : chunk.subarray(from, from + count));
    this.#left -= count;
    return count;
  }
}

/** Maximum lengths of a chunk-size line and of the trailer section, in bytes. */
const MAX_SIZE_LINE = 1024;
const MAX_TRAILER = 16 * 1024;

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;

type ChunkState = "size" | "extension" | "size-end" | "data" | "data-cr" | "data-lf" | "trailer";

/** RFC 9112, section 7.1: chunks with a hexadecimal size; after the last, of size zero, a trailer section that is ignored. */
class ChunkedReader implements BodyReader {
  readonly endsWithConnection = false;
  done = false;
  #state: ChunkState = "size";
  #size = 0;
  #digits = 0;
  #lineBytes = 0;
  #lineIsEmpty = true;
  #last = 0;

  read(chunk: Uint8Array, from: number, out: Uint8Array[]): number {
    let at = from;
    while (at < chunk.length && !this.done) {
      if (this.#state === "data") at = this.#readData(chunk, at, out);
      else this.#readByte(chunk[at++]!);
    }
    return at - from;
  }

  #readData(chunk: Uint8Array, at: number, out: Uint8Array[]): number {
    const end = Math.min(at + this.#size, chunk.length);
    out.push(chunk.subarray(at, end));
    this.#size -= end - at;
    if (this.#size === 0) this.#state = "data-cr";
    return end;
  }

  #readByte(byte: number): void {
    switch (this.#state) {
      case "size":
        return this.#readSize(byte);
      case "extension":
        if (byte === CR) this.#state = "size-end";
        else if (byte === LF || ++this.#lineBytes > MAX_SIZE_LINE) throw malformed("a chunk has no size");
        return;
      case "size-end":
        if (byte !== LF) throw malformed("a chunk's size does not end its line");
        return this.#beginData();
      case "data-cr":
        if (byte !== CR) throw malformed("a chunk is longer than it says");
        this.#state = "data-lf";
        return;
      case "data-lf":
        if (byte !== LF) throw malformed("a chunk is longer than it says");
        this.#state = "size";
        return;
      case "trailer":
        return this.#readTrailer(byte);
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.#digits > 8) throw malformed("a chunk's size is too large");
      this.#size = this.#size * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw malformed("a chunk has no size");
    this.#lineBytes = 0;
    if (byte === CR) this.#state = "size-end";
    else if (byte === SEMICOLON || byte === 0x20 || byte === 0x09) this.#state = "extension";
    else throw malformed("a chunk's size cannot be read");
  }

  #beginData(): void {
    this.#state = this.#size === 0 ? "trailer" : "data";
    this.#digits = 0;
    this.#lineBytes = 0;
    this.#lineIsEmpty = true;
    this.#last = 0;
  }

  /** Skips trailer lines up to an empty line. */
  #readTrailer(byte: number): void {
    if (++this.#lineBytes > MAX_TRAILER) throw malformed("its trailer section is too long");
    if (byte === LF) {
      if (this.#last !== CR) throw malformed("a line of its trailer section does not end in CR LF");
      if (this.#lineIsEmpty) this.done = true;
      this.#lineIsEmpty = true;
    } else if (byte !== CR) this.#lineIsEmpty = false;
    this.#last = byte;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Reads the next piece of any reader into a receiver. */
export function takeFrom(reader: ByteReader, receiver: Receiver): void {
  if (reader.take) return reader.take(receiver);
  reader.read().then(
    ({ done, value }) => (done || !value ? receiver.end() : receiver.piece(value)),
    (reason: unknown) => receiver.fail(reason),
  );
}

/** The next piece of a source that has only receivers. */
export function nextPiece(source: { take(receiver: Receiver): void }): Promise<Piece> {
  return new Promise((resolve, reject) => {
    source.take({
      piece: (value) => resolve({ done: false, value }),
      end: () => resolve({ done: true }),
      fail: reject,
    });
  });
}
