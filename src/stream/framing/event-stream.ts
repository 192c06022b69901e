/**
 * Reads `application/vnd.amazon.eventstream`, the binary framing of AWS. A message is, big endian: total length (u32), length of
 * the headers (u32), CRC32 of these 8 bytes, headers, payload, CRC32 of all bytes before. A header is: length of the name (u8),
 * name, type of the value (u8), value.
 */
import { incompleteStream } from "../../core/incomplete.ts";
import type { Frame, FrameReader } from "../../core/frame.ts";
import { parseJson, isObject } from "../../core/json.ts";
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

  /** @param unwrap member of the payload that holds the base64 text of the event; absent: the payload is the event */
  constructor(unwrap?: string) {
    this.#unwrap = unwrap;
  }

  push(bytes: Uint8Array): Frame[] {
    if (this.#fault) throw this.#fault;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes < this.#needed) return [];
    const all = this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held);
    const frames: Frame[] = [];
    let at = 0;
    try {
      for (;;) {
        const left = all.subarray(at);
        this.#needed = left.length < PRELUDE ? PRELUDE : messageLength(left);
        if (left.length < this.#needed) break;
        frames.push(this.#frameOf(left.subarray(0, this.#needed)));
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

  #frameOf(message: Uint8Array): Frame {
    const view = viewOf(message);
    const bodyEnd = message.length - CRC;
    if (view.getUint32(bodyEnd) !== Bun.hash.crc32(message.subarray(0, bodyEnd)))
      throw invalidFrame("a checksum is wrong");
    const payloadAt = PRELUDE + view.getUint32(4);
    const headers = readHeaders(message.subarray(PRELUDE, payloadAt));
    const data = decoder.decode(message.subarray(payloadAt, bodyEnd));
    switch (headers.get(":message-type")) {
      case "exception": {
        const said = parseJson(data);
        const text = isObject(said) ? (said["message"] ?? said["Message"]) : undefined;
        return this.#failure("exception", headers.get(":exception-type"), text);
      }
      case "error":
        return this.#failure("error", headers.get(":error-code"), headers.get(":error-message"));
    }
    return this.#unwrap === undefined
      ? { event: headers.get(":event-type"), data }
      : unwrapped(data, this.#unwrap);
  }

  /** Wrapped events belong to another format, whose codecs read a member `error` and know no exceptions. */
  #failure(event: string, type = "unknown", message: unknown = ""): Frame {
    const error = { type, message };
    return this.#unwrap === undefined
      ? { event, data: JSON.stringify(error) }
      : { event: "error", data: JSON.stringify({ type: "error", error }) };
  }
}

/** The length of the message that begins here. @throws GatewayError unless the prelude is intact, so that a broken length allocates nothing */
function messageLength(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  if (view.getUint32(8) !== Bun.hash.crc32(bytes.subarray(0, 8))) throw invalidFrame("a checksum is wrong");
  const total = view.getUint32(0);
  const headers = view.getUint32(4);
  if (total > MAX_MESSAGE || headers > MAX_HEADERS || total < PRELUDE + headers + CRC)
    throw invalidFrame("a message has an invalid length");
  return total;
}

/** The headers with a text value. */
function readHeaders(bytes: Uint8Array): Map<string, string> {
  const view = viewOf(bytes);
  const headers = new Map<string, string>();
  try {
    for (let at = 0; at < bytes.length;) {
      const nameEnd = at + 1 + view.getUint8(at);
      const name = decoder.decode(bytes.subarray(at + 1, nameEnd));
      const type = view.getUint8(nameEnd);
      const fixed = VALUE_SIZES[type];
      const valueAt = nameEnd + (fixed === undefined ? 3 : 1);
      at = valueAt + (fixed ?? view.getUint16(nameEnd + 1));
      if (type === TEXT) headers.set(name, decoder.decode(bytes.subarray(valueAt, at)));
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

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const decoder = new TextDecoder();
