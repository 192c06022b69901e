/**
 * Messages on a socket. A frame is the length of the rest, the length of the header (4 bytes each, big-endian), the header,
 * and the byte arrays of the message one after another. The header is JSON: the message with `{"bytes": length}` in place of
 * each byte array, and `{"bytes": {"json": value}}` in place of an object that has the one member `bytes`.
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
      if (!(own instanceof Uint8Array)) return isAlike(value) ? { bytes: { json: value.bytes } } : value;
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

/** The same frame for a message that is JSON alone: an object `{"bytes": 5}` in it is data. */
export function encodeJsonFrame(message: object): Uint8Array {
  const header = utf8.encode(JSON.stringify(message));
  const frame = Buffer.allocUnsafe(2 * LENGTH_BYTES + header.byteLength);
  frame.writeUInt32BE(LENGTH_BYTES + header.byteLength, 0);
  frame.writeUInt32BE(header.byteLength, LENGTH_BYTES);
  frame.set(header, 2 * LENGTH_BYTES);
  return frame;
}

/** Reads frames from the chunks of a socket. */
export class FrameReader<Message> {
  readonly #take: (message: Message) => void;
  readonly #decode: <Read>(frame: Buffer) => Read;
  #chunks: Uint8Array[] = [];
  #size = 0;
  /** Bytes that must have arrived before there is anything to read. */
  #wanted = LENGTH_BYTES;

  /** @param take called with each message @param isJson of {@link encodeJsonFrame} */
  constructor(take: (message: Message) => void, isJson = false) {
    this.#take = take;
    this.#decode = isJson ? decodeJson : decode;
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
      this.#take(this.#decode(bytes.subarray(LENGTH_BYTES, this.#wanted)));
      bytes = bytes.subarray(this.#wanted);
    }
    this.#chunks = [bytes];
    this.#size = bytes.byteLength;
  }
}

function decodeJson<Message>(frame: Buffer): Message {
  return JSON.parse(fromUtf8.decode(frame.subarray(LENGTH_BYTES))) as Message;
}

/** Whether an object has the one member that stands for a byte array. */
function isAlike(value: unknown): value is { bytes: unknown } {
  return typeof value === "object" && value !== null && "bytes" in value && Object.keys(value).length === 1;
}

function decode<Message>(frame: Buffer): Message {
  let at = LENGTH_BYTES + frame.readUInt32BE(0);
  const header = fromUtf8.decode(frame.subarray(LENGTH_BYTES, at));
  // The reviver meets the byte arrays in the order in which the sender wrote them.
  return JSON.parse(header, (_, value: unknown) => {
    if (!isAlike(value)) return value;
    if (typeof value.bytes !== "number") return { bytes: (value.bytes as { json: unknown }).json };
    const blob = frame.subarray(at, at + value.bytes);
    at += value.bytes;
    return blob;
  }) as Message;
}
