/**
 * Messages on a socket. A frame is the length of the rest, the length of the header (4 bytes each, big-endian), the header,
 * and the byte arrays of the message one after another. The header is JSON: the message with `{"bytes": length}` in place of
 * each byte array.
 */

const LENGTH_BYTES = 4;
/** A longer frame is a fault of the sender. */
const MAX_FRAME = 768 * 1024 * 1024;

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

/** @param message JSON, and byte arrays in it */
export function encodeFrame(message: object): Uint8Array {
  const blobs: Uint8Array[] = [];
  // `JSON.stringify` calls `toJSON` of a Buffer before the replacer, so the replacer reads the member itself.
  const text = JSON.stringify(
    message,
    function (this: Record<string, unknown>, name: string, value: unknown) {
      const own = this[name];
      if (!(own instanceof Uint8Array)) return value;
      blobs.push(own);
      return { bytes: own.byteLength };
    },
  );
  const header = utf8.encode(text);
  const size = blobs.reduce((sum, blob) => sum + blob.byteLength, LENGTH_BYTES + header.byteLength);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + size);
  frame.writeUInt32BE(size, 0);
  frame.writeUInt32BE(header.byteLength, LENGTH_BYTES);
  frame.set(header, 2 * LENGTH_BYTES);
  let at = 2 * LENGTH_BYTES + header.byteLength;
  for (const blob of blobs) {
    frame.set(blob, at);
    at += blob.byteLength;
  }
  return frame;
}

/** Reads frames from the chunks of a socket. */
export class FrameReader<Message> {
  readonly #take: (message: Message) => void;
  #chunks: Uint8Array[] = [];
  #size = 0;
  /** Bytes that must have arrived before there is anything to read. */
  #wanted = LENGTH_BYTES;

  /** @param take called with each message */
  constructor(take: (message: Message) => void) {
    this.#take = take;
  }

  /** @throws Error for bytes that are not a frame */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#size += chunk.byteLength;
    if (this.#size < this.#wanted) return;
    let bytes = Buffer.concat(this.#chunks);
    for (;;) {
      this.#wanted = bytes.byteLength < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + bytes.readUInt32BE(0);
      if (this.#wanted > MAX_FRAME) throw new Error("a message between processes of weir is too long");
      if (bytes.byteLength < this.#wanted) break;
      this.#take(decode(bytes.subarray(LENGTH_BYTES, this.#wanted)));
      bytes = bytes.subarray(this.#wanted);
    }
    this.#chunks = [bytes];
    this.#size = bytes.byteLength;
  }
}

function decode<Message>(frame: Buffer): Message {
  let at = LENGTH_BYTES + frame.readUInt32BE(0);
  const header = fromUtf8.decode(frame.subarray(LENGTH_BYTES, at));
  // The reviver meets the byte arrays in the order in which the sender wrote them.
  return JSON.parse(header, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !("bytes" in value)) return value;
    if (typeof value.bytes !== "number" || Object.keys(value).length !== 1) return value;
    const blob = frame.subarray(at, at + value.bytes);
    at += value.bytes;
    return blob;
  }) as Message;
}
