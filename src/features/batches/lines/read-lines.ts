/** Reads the lines of an input as they arrive: at no time more of it is in memory than one line and one chunk. */
import { Gather } from "./gather.ts";

/** Bytes that a line may have. */
export const LINE_BYTES = 8 * 1024 * 1024;

export interface LineLimits {
  /** Bytes that a line may have, its ending excluded. */
  line: number;
}

export interface InputLine {
  /** Counts from 1. */
  number: number;
  /** Bytes before it in the input. */
  offset: number;
  /** Bytes, its ending (LF, or CR and LF) and a byte order mark excluded. */
  length: number;
  /** Valid until the next line is taken. Empty if the line is too large. */
  bytes: Uint8Array;
  isTooLarge: boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const MARK = [0xef, 0xbb, 0xbf];

/** The lines of an input. The last one needs no ending; after an ending there is no further line. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  limits: LineLimits = { line: LINE_BYTES },
): AsyncGenerator<InputLine, void> {
  // A byte order mark and a CR are no part of a line.
  const gather = new Gather(limits.line + MARK.length + 1);
  let number = 0;
  let offset = 0;
  const lineOf = (last: Uint8Array): InputLine => {
    let bytes = gather.end(last);
    let start = offset;
    let { size: length, isTooLarge } = gather;
    if (number === 0 && MARK.every((byte, at) => bytes[at] === byte)) {
      bytes = bytes.subarray(MARK.length);
      start += MARK.length;
      length -= MARK.length;
    }
    if (bytes.at(-1) === CR) {
      bytes = bytes.subarray(0, -1);
      length--;
    }
    isTooLarge ||= length > limits.line;
    offset += gather.size + 1;
    gather.clear();
    return {
      number: ++number,
      offset: start,
      length,
      bytes: isTooLarge ? bytes.subarray(0, 0) : bytes,
      isTooLarge,
    };
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      const line = lineOf(chunk.subarray(from, end));
      from = end + 1;
      yield line;
    }
    if (from < chunk.length) gather.add(chunk.subarray(from));
  }
  if (gather.size > 0) yield lineOf(new Uint8Array(0));
}
