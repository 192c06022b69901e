/** Differences of two answers as lines: texts are compared by lines and sentences. */
import type { DiffLine } from "../../../console/parts/diff-lines.ts";

/** More pairs of pieces are not compared: the differing middle is then removed and added as a whole. */
const MOST_PAIRS = 1_000_000;

export function diffText(before: string, after: string): DiffLine[] {
  const [was, is] = [piecesOf(before), piecesOf(after)];
  let head = 0;
  while (head < was.length && head < is.length && was[head] === is[head]) head += 1;
  let tail = 0;
  while (
    tail < was.length - head &&
    tail < is.length - head &&
    was[was.length - 1 - tail] === is[is.length - 1 - tail]
  )
    tail += 1;
  const same = (pieces: readonly string[]) => pieces.map((text): DiffLine => ({ sign: " ", text }));
  return [
    ...same(is.slice(0, head)),
    ...middle(was.slice(head, was.length - tail), is.slice(head, is.length - tail)),
    ...same(is.slice(is.length - tail)),
  ];
}

/** Lines, and in long ones sentences. */
function piecesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n").flatMap((line) => line.split(/(?<=[.!?])\s+/));
}

/** By the longest common subsequence. */
function middle(was: readonly string[], is: readonly string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  const isMuch = was.length * is.length > MOST_PAIRS;
  const rows = isMuch ? [] : lengthsOf(was, is);
  let [at, to] = [0, 0];
  while (at < was.length || to < is.length) {
    if (!isMuch && at < was.length && to < is.length && was[at] === is[to]) {
      lines.push({ sign: " ", text: is[to]! });
      at += 1;
      to += 1;
    } else if (to >= is.length || (at < was.length && (isMuch || rows[at + 1]![to]! >= rows[at]![to + 1]!))) {
      lines.push({ sign: "-", text: was[at]! });
      at += 1;
    } else {
      lines.push({ sign: "+", text: is[to]! });
      to += 1;
    }
  }
  return lines;
}

/** Of the common subsequences of what is left from each place on. */
function lengthsOf(was: readonly string[], is: readonly string[]): number[][] {
  const rows = Array.from({ length: was.length + 1 }, () => Array<number>(is.length + 1).fill(0));
  for (let at = was.length - 1; at >= 0; at -= 1)
    for (let to = is.length - 1; to >= 0; to -= 1)
      rows[at]![to] =
        was[at] === is[to] ? rows[at + 1]![to + 1]! + 1 : Math.max(rows[at + 1]![to]!, rows[at]![to + 1]!);
  return rows;
}
