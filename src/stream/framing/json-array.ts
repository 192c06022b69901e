/** Reads a body that is one JSON array whose elements arrive one by one: each element is a frame. */
import { incompleteStream } from "../../core/incomplete.ts";
import type { GatewayError } from "../../core/error.ts";
import type { Frame, FrameReader } from "../../core/frame.ts";
import { frameTooLong, invalidFrame, MAX_FRAME } from "./errors.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LAST_SPACE = 0x20;

export class JsonArrayReader implements FrameReader {
  /** Number of open objects and arrays. */
  #depth = 0;
  #inString = false;
  /** The last byte of a string was a backslash that escapes the next byte. */
  #escaped = false;
  #ended = false;
  /** The pieces of the incomplete element. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #fault: GatewayError | undefined;

  push(bytes: Uint8Array): Frame[] {
    if (this.#fault) throw this.#fault;
    const frames: Frame[] = [];
    /** Start of the part of the element that is in these bytes. */
    let from = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#inString) {
        at = this.#stringEnd(bytes, at);
        continue;
      }
      if (this.#depth === 0) {
        from = at + 1;
        if (byte <= LAST_SPACE) continue;
        if (this.#ended || byte !== OPEN_BRACKET) return this.#fail(frames);
        this.#depth = 1;
        continue;
      }
      switch (byte) {
        case QUOTE:
          this.#inString = true;
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.#depth++;
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#depth--;
          if (this.#depth > 0) break;
          this.#ended = true;
          this.#take(bytes.subarray(from, at), frames);
          from = at + 1;
          break;
        case COMMA:
          if (this.#depth > 1) break;
          this.#take(bytes.subarray(from, at), frames);
          from = at + 1;
          break;
      }
    }
    if (from < bytes.length) this.#hold(bytes.subarray(from));
    return frames;
  }

  end(): Frame[] {
    if (this.#fault) throw this.#fault;
    if (!this.#ended) throw incompleteStream();
    return [];
  }

  /** The elements before the fault count, however the bytes arrive. */
  #fail(frames: Frame[]): Frame[] {
    this.#fault = invalidFrame("it is not one JSON array");
    if (frames.length === 0) throw this.#fault;
    return frames;
  }

  /** The index of the last byte of the string that is in these bytes. */
  #stringEnd(bytes: Uint8Array, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      if (this.#escaped) this.#escaped = false;
      else if (bytes[at] === BACKSLASH) this.#escaped = true;
      else if (bytes[at] === QUOTE) {
        this.#inString = false;
        return at;
      }
    }
    return bytes.length;
  }

  #hold(bytes: Uint8Array): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > MAX_FRAME) throw frameTooLong();
  }

  #take(last: Uint8Array, frames: Frame[]): void {
    const element = this.#heldBytes === 0 ? last : Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.#heldBytes = 0;
    const data = decoder.decode(element).trim();
    if (data !== "") frames.push({ data });
  }
}

const decoder = new TextDecoder();
