/** Where two texts differ, in words. */
import type { Edit } from "../../replace/edits.ts";

/** Words that differ at most; beyond that the texts differ as a whole. */
const MOST = 500;

/**
 * The smallest edits, by words, that make one text of another (Myers, "An O(ND) difference algorithm", 1986). None is empty: what
 * is only put in stands in the place of the word next to it.
 */
export function differences(given: string, text: string): Edit[] {
  if (given === text) return [];
  const from = wordsOf(given);
  const to = wordsOf(text);
  const kept = commonOf(from, to);
  if (!kept || given === "") return [{ start: 0, end: given.length, text }];
  const edits: Edit[] = [];
  let at = 0;
  let other = 0;
  let place = 0;
  for (const [here, there] of [...kept, [from.length, to.length] as const]) {
    const end = place + lengthOf(from, at, here);
    const inserted = to.slice(other, there).join("");
    if (end > place || inserted !== "") edits.push({ start: place, end, text: inserted });
    if (here === from.length) break;
    place = end + from[here]!.length;
    [at, other] = [here + 1, there + 1];
  }
  return edits.map((edit) => (edit.start < edit.end ? edit : filled(edit, given)));
}

/** An insertion together with the character behind it, else in front of it. */
function filled({ start, text }: Edit, given: string): Edit {
  const behind = given.codePointAt(start);
  if (behind !== undefined) {
    const character = String.fromCodePoint(behind);
    return { start, end: start + character.length, text: text + character };
  }
  const before = [...given].at(-1)!;
  return { start: start - before.length, end: start, text: before + text };
}

const wordsOf = (text: string) => text.match(/[\p{L}\p{M}\p{N}]+|[^]/gu) ?? [];

function lengthOf(words: readonly string[], from: number, to: number): number {
  let length = 0;
  for (let at = from; at < to; at++) length += words[at]!.length;
  return length;
}

/** The places of the words that both have, in order. @returns undefined: they differ too much */
function commonOf(from: readonly string[], to: readonly string[]): (readonly [number, number])[] | undefined {
  const reached: Map<number, number>[] = [];
  let far = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= Math.min(MOST, from.length + to.length); edits++) {
    reached.push(far);
    far = new Map(far);
    for (let line = -edits; line <= edits; line += 2) {
      let at = stepOf(far, line, edits);
      while (at < from.length && at - line < to.length && from[at] === to[at - line]) at++;
      far.set(line, at);
      if (at >= from.length && at - line >= to.length) return walkBack(reached, from.length, to.length);
    }
  }
  return undefined;
}

/** How far one gets on a line with one more edit. */
function stepOf(far: ReadonlyMap<number, number>, line: number, edits: number): number {
  const below = far.get(line + 1) ?? -1;
  const left = far.get(line - 1) ?? -1;
  return line === -edits || (line !== edits && left < below) ? below : left + 1;
}

function walkBack(reached: readonly ReadonlyMap<number, number>[], at: number, other: number) {
  const kept: (readonly [number, number])[] = [];
  for (let edits = reached.length - 1; edits >= 0; edits--) {
    const line = at - other;
    const begin = stepOf(reached[edits]!, line, edits);
    while (at > begin) kept.push([--at, --other]);
    if (edits === 0) break;
    const far = reached[edits]!;
    const down = line === -edits || (line !== edits && (far.get(line - 1) ?? -1) < (far.get(line + 1) ?? -1));
    const before = down ? line + 1 : line - 1;
    at = far.get(before)!;
    other = at - before;
  }
  return kept.toReversed();
}
