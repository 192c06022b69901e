/**
 * Reads `application/vnd.amazon.eventstream`, the binary framing of AWS. A message is, big endian: total length (u32), length of
 * the headers (u32), CRC32 of these 8 bytes, headers, payload, CRC32 of all bytes before. A header is: length of the name (u8),
 * name, type of the value (u8), value.
 */
import type { GatewayError } from "../../core/error.ts";
import { incompleteStream } from "../../core/incomplete.ts";
import type { Frame, FrameReader } from "../../core/frame.ts";
import { type JsonObject, parseJson, isObject } from "../../core/json.ts";
import { invalidFrame } from "./errors.ts";

const PRELUDE = 12;
const CRC = 4;
/** Limits of AWS. Bytes. */
const MAX_MESSAGE = 24 * 1024 * 1024;
const MAX_HEADERS = 128 * 1024;

/** Sizes of header values by type: true, false, i8, i16, i32, i64, then bytes and text with a length, timestamp, UUID. */
const VALUE_SIZES = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16] as const;
const TEXT = 7;

export class EventStreamReader implements FrameReader {
  readonly #unwrap: string | undefined;
  /** The pieces of the incomplete message. They are joined once it is complete. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** Number of bytes that the next step needs: a prelude, or a whole message. */
  #needed = PRELUDE;
  #fault: unknown;
  #lastBytes: Buffer | undefined;
  #lastHeaders: ReadonlyMap<string, string> = new Map();

  /** @param unwrap member of the payload that holds the base64 text of the event; absent: the payload is the event */
  constructor(unwrap?: string) {
    this.#unwrap = unwrap;
  }

  push(bytes: Uint8Array): Frame[] {
    if (this.#fault) throw this.#fault;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes < this.#needed) return [];
    const all = this.#held.length === 1 ? asBuffer(this.#held[0]!) : Buffer.concat(this.#held);
    const frames: Frame[] = [];
    let at = 0;
    try {
      for (;;) {
        const left = all.length - at;
        this.#needed = left < PRELUDE ? PRELUDE : messageLength(all, at);
        if (left < this.#needed) {
          if (left >= PRELUDE) checkPrelude(all, at);
          break;
        }
        frames.push(this.#frameOf(all, at, at + this.#needed));
        at += this.#needed;
      }
    } catch (fault) {
      // The messages before the invalid one count, however the bytes arrive.
      this.#fault = fault;
      if (frames.length === 0) throw fault;
    }
    const rest = all.subarray(at);
    this.#held = rest.length === 0 ? [] : [rest];
    this.#heldBytes = rest.length;
    return frames;
  }

  end(): Frame[] {
    if (this.#fault) throw this.#fault;
    if (this.#heldBytes > 0) throw incompleteStream();
    return [];
  }

  /** Reads the message from `start` to `end`. Its checksum covers the prelude too. */
  #frameOf(all: Buffer, start: number, end: number): Frame {
    const bodyEnd = end - CRC;
    if (all.readUInt32BE(bodyEnd) !== Bun.hash.crc32(all.subarray(start, bodyEnd))) throw wrongChecksum();
    const payloadAt = start + PRELUDE + all.readUInt32BE(start + 4);
    const headers = this.#headersOf(all, start + PRELUDE, payloadAt);
    const data = all.toString("utf8", payloadAt, bodyEnd);
    switch (headers.get(":message-type")) {
      case "exception": {
        const said = parseJson(data);
        const { message, Message, ...more } = isObject(said) ? said : {};
        return this.#failure("exception", headers.get(":exception-type"), message ?? Message, more);
      }
      case "error":
        return this.#failure("error", headers.get(":error-code"), headers.get(":error-message"));
    }
    return this.#unwrap === undefined
      ? { event: headers.get(":event-type"), data }
      : unwrapped(data, this.#unwrap);
  }

  /** Nearly all messages of a stream have the headers of the one before: they are read once. */
  #headersOf(all: Buffer, start: number, end: number): ReadonlyMap<string, string> {
    if (this.#lastBytes?.compare(all, start, end) === 0) return this.#lastHeaders;
    this.#lastHeaders = readHeaders(all.subarray(start, end));
    this.#lastBytes = Buffer.from(all.subarray(start, end));
    return this.#lastHeaders;
  }

  /** Wrapped events belong to another format, whose codecs read a member `error` and know no exceptions. */
  #failure(event: string, type = "unknown", message: unknown = "", more: JsonObject = {}): Frame {
    const error = { ...more, type, message };
    return this.#unwrap === undefined
      ? { event, data: JSON.stringify(error) }
      : { event: "error", data: JSON.stringify({ type: "error", error }) };
  }
}

/** The length of the message that begins at `at`. @throws GatewayError if it cannot be one */
function messageLength(bytes: Buffer, at: number): number {
  const total = bytes.readUInt32BE(at);
  const headers = bytes.readUInt32BE(at + 4);
  if (total <= MAX_MESSAGE && headers <= MAX_HEADERS && total >= PRELUDE + headers + CRC) return total;
  checkPrelude(bytes, at);
  throw invalidFrame("a message has an invalid length");
}

/** weir awaits the bytes of a message only if its prelude is intact: a broken length would never be reached. */
function checkPrelude(bytes: Buffer, at: number): void {
  if (bytes.readUInt32BE(at + 8) !== Bun.hash.crc32(bytes.subarray(at, at + 8))) throw wrongChecksum();
}

function wrongChecksum(): GatewayError {
  return invalidFrame("a checksum is wrong");
}

/** The headers with a text value. */
function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  try {
    for (let at = 0; at < bytes.length;) {
      const nameEnd = at + 1 + bytes.readUInt8(at);
      const name = bytes.toString("utf8", at + 1, nameEnd);
      const type = bytes.readUInt8(nameEnd);
      const fixed = VALUE_SIZES[type];
      const valueAt = nameEnd + (fixed === undefined ? 3 : 1);
      at = valueAt + (fixed ?? bytes.readUInt16BE(nameEnd + 1));
      if (type === TEXT) headers.set(name, bytes.toString("utf8", valueAt, at));
      if (type >= VALUE_SIZES.length || at > bytes.length) throw new RangeError();
    }
  } catch {
    throw invalidFrame("the headers of a message are invalid");
  }
  return headers;
}

/** The event inside a payload such as `{"bytes": "eyJ0eXBlIjoi…"}`, named by its own `type`. */
function unwrapped(payload: string, member: string): Frame {
  const outer = parseJson(payload);
  const inner = isObject(outer) ? outer[member] : undefined;
  if (typeof inner !== "string") throw invalidFrame(`a message has no member ${member}`);
  const data = Buffer.from(inner, "base64").toString();
  const event = parseJson(data);
  return isObject(event) && typeof event["type"] === "string" ? { event: event["type"], data } : { data };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
