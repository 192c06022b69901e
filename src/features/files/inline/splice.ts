/** Writes files into the bytes of a request; every other byte stays as it is. */
import type { FileContent, FileSplice } from "../../../core/file-places.ts";

/** A splice with the file that goes there. */
export interface Filling {
  readonly splice: FileSplice;
  readonly bytes: Buffer;
  /** The text of the file as JSON. @throws GatewayError for a file that is no text */
  text(): Buffer;
}

/** Bytes that are written as base64 at once: a multiple of three, so that the pieces join. */
const PIECE = 3 * 64 * 1024;

/** @returns a new body of exactly its length, so that large files are copied once */
export function spliced(body: Uint8Array, fillings: readonly Filling[]): Uint8Array {
  const sorted = fillings.toSorted((one, other) => one.splice.start - other.splice.start);
  const parts: (Uint8Array | Base64)[] = [];
  let from = 0;
  for (const filling of sorted) {
    const { start, end } = filling.splice;
    parts.push(body.subarray(from, start), ...filling.splice.parts.map((part) => partOf(part, filling)));
    from = end;
  }
  parts.push(body.subarray(from));
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    if (part instanceof Base64) part.write(whole, at);
    else whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function partOf(part: string | FileContent, { bytes, text }: Filling): Uint8Array | Base64 {
  if (typeof part === "string") return Buffer.from(part);
  return part.as === "string" ? text() : new Base64(bytes);
}

class Base64 {
  readonly #bytes: Buffer;
  readonly length: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.length = Math.ceil(bytes.length / 3) * 4;
  }

  write(whole: Buffer, start: number): void {
    let at = start;
    for (let from = 0; from < this.#bytes.length; from += PIECE)
      at += whole.write(this.#bytes.toString("base64", from, from + PIECE), at, "latin1");
  }
}
