/** Finds in the bytes of a request the members by which a client marks what a provider shall cache. */
import type { Span } from "../../stream/span.ts";
import { isSpace } from "../../stream/span.ts";

/** Of the Messages format, and of OpenAI. Their values are objects without objects in them. */
const NAMES = ["cache_control", "prompt_cache_breakpoint"];

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** @returns their ranges with the comma before each, or after the first member of an object; sorted */
export function cacheMarksIn(bytes: Buffer): Span[] {
  const found: Span[] = [];
  for (const name of NAMES)
    for (let at = bytes.indexOf(name, 0, "latin1"); at >= 0; at = bytes.indexOf(name, at + 1, "latin1")) {
      const mark = markAround(bytes, at, at + name.length);
      if (mark) found.push(mark);
    }
  return found.sort((a, b) => a.start - b.start);
}

/** @param start start of the name @param end behind it @returns undefined if it is not the name of a member with an object */
function markAround(bytes: Buffer, start: number, end: number): Span | undefined {
  // The quotes of a name within a string are escaped.
  if (bytes[start - 1] !== QUOTE || bytes[end] !== QUOTE) return undefined;
  const colon = behindSpace(bytes, end + 1);
  if (bytes[colon] !== COLON) return undefined;
  const open = behindSpace(bytes, colon + 1);
  const close = bytes[open] === OPEN_BRACE ? bytes.indexOf(CLOSE_BRACE, open) : -1;
  if (close < 0) return undefined;
  let before = start - 2;
  while (isSpace(bytes[before]!)) before--;
  if (bytes[before] === COMMA) return { start: before, end: close + 1 };
  const after = behindSpace(bytes, close + 1);
  return { start: start - 1, end: bytes[after] === COMMA ? after + 1 : close + 1 };
}

function behindSpace(bytes: Buffer, at: number): number {
  while (isSpace(bytes[at]!)) at++;
  return at;
}

/** @param spans sorted @returns those within a range */
export function spansIn(spans: readonly Span[], { start, end }: Span): readonly Span[] {
  let from = 0;
  let to = spans.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (spans[middle]!.start < start) from = middle + 1;
    else to = middle;
  }
  while (to < spans.length && spans[to]!.end <= end) to++;
  return spans.slice(from, to);
}
