/** Values of the operator's own: a regular expression. */
import { type Detector, type Finding, kindOf } from "./detector.ts";

const LONGEST = 256;
/** Characters in front of a window, for what looks behind. */
const BEFORE = 64;
/** Values begin in one window after the other. An expression that takes time by the square of a text takes it of one of them. */
const WINDOW = 512;
/** Of a text that is complete, longer values than of one that goes on are found up to here, and from their beginning up to there. */
const LEAST = 1_024;
const MOST = 8_192;

/** @param pattern an expression that cannot take exponential time */
export function patternDetector(name: string, pattern: string, longest = LONGEST): Detector {
  const expression = new RegExp(pattern, "gu");
  const kind = kindOf(name);
  return {
    name,
    kind,
    find(text, from = 0) {
      const found: Finding[] = [];
      for (let at = from; at < text.length; at = Math.max(at + WINDOW, found.at(-1)?.end ?? 0))
        findFrom(expression, text, at, longest, (start, end) => found.push({ start, end, kind }));
      return found;
    },
    reach: (text) => Math.max(0, text.length - longest),
  };
}

/** Values that begin in the window from a position on. */
function findFrom(
  expression: RegExp,
  text: string,
  from: number,
  longest: number,
  found: (start: number, end: number) => void,
): void {
  const cut = Math.max(0, from - BEFORE);
  const part = text.slice(cut, from + WINDOW + Math.max(longest, LEAST) + 1);
  expression.lastIndex = from - cut;
  for (let match = expression.exec(part); match; match = expression.exec(part)) {
    const start = cut + match.index;
    if (start >= from + WINDOW) return;
    let end = start + match[0].length;
    // What the window cuts is looked at once more.
    if (end === cut + part.length && end < text.length)
      end = start + longer(expression, text, start, match[0].length);
    if (end > start) found(start, end);
    expression.lastIndex = Math.max(end - cut, match.index + 1);
    if (expression.lastIndex > part.length) return;
  }
}

/** @returns the length of a value that goes on behind a window */
function longer(expression: RegExp, text: string, start: number, known: number): number {
  const cut = Math.max(0, start - BEFORE);
  expression.lastIndex = start - cut;
  const match = expression.exec(text.slice(cut, start + MOST));
  return match?.index === start - cut ? match[0].length : known;
}
