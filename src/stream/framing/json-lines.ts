/** Reads a body of JSON lines (NDJSON): one value a line, ended by LF or CRLF. Blank lines are ignored. */
import { incompleteStream } from "../../core/incomplete.ts";
import type { Frame, FrameReader } from "../../core/frame.ts";
import { parseJson } from "../../core/json.ts";
import { frameTooLong, MAX_FRAME } from "./errors.ts";

const LF = 10;

export class JsonLinesReader implements FrameReader {
  /** The pieces of the incomplete line. They are joined once, because joining at each chunk would be quadratic. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      this.#take(bytes.subarray(start, end), frames);
      start = end + 1;
    }
    if (start === bytes.length) return frames;
    this.#held.push(bytes.subarray(start));
    this.#heldBytes += bytes.length - start;
    if (this.#heldBytes > MAX_FRAME) throw frameTooLong();
    return frames;
  }

  /** The last line may lack its line feed. */
  end(): Frame[] {
    const frames: Frame[] = [];
    this.#take(new Uint8Array(0), frames);
    if (frames.some(({ data }) => parseJson(data) === undefined)) throw incompleteStream();
    return frames;
  }

  #take(last: Uint8Array, frames: Frame[]): void {
    const line = this.#heldBytes === 0 ? last : Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.#heldBytes = 0;
    const data = decoder.decode(line).trim();
    if (data !== "") frames.push({ data });
  }
}

const decoder = new TextDecoder();
