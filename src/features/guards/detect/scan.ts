/** Finds the values of several detectors in a text, in all of its forms. */
import type { Detector, Finding } from "./detector.ts";
import { escapedEnd, formsOf, growing } from "./forms.ts";

/** A finding in a text, whose value may be written there in another form. */
export interface Found extends Finding {
  /** The same for all spellings and forms of the value. */
  readonly normal: string;
  /** The value with what tells that it is one, and with what longer ones next to it cover. */
  readonly whole: { readonly start: number; readonly end: number };
}

/** In the order of the text; none overlaps another one. @param from values begin there or later */
export function scan(text: string, detectors: readonly Detector[], from = 0): Found[] {
  const found: Found[] = [];
  let isFirst = true;
  for (const form of formsOf(text, from)) {
    for (const detector of detectors) {
      if (detector.isLiteral && !isFirst) continue;
      for (const finding of detector.find(form.text, form.from)) {
        const { start, end } = form.run ?? { start: form.at(finding.start), end: form.at(finding.end) };
        const value = form.text.slice(finding.start, finding.end);
        const normal = detector.normal?.(value) ?? value;
        // What is in front was decided, and is no part of the whole.
        const since =
          finding.since === undefined || form.run ? start : Math.max(from, form.at(finding.since));
        if (end > start) found.push({ ...finding, start, end, normal, whole: { start: since, end } });
      }
    }
    isFirst = false;
  }
  return found.length > 1 ? apart(found) : found;
}

/**
 * Leaves out what overlaps a longer finding; of equally long ones the earlier and then the first detector's stays. A part of a
 * value that stays uncovered is covered by a finding of its own kind: nothing of a value is left over.
 */
export function apart<One extends Finding>(found: readonly One[]): One[] {
  const ordered = [...found].sort((one, other) => one.start - other.start);
  let end = 0;
  let areApart = true;
  for (const one of ordered) {
    areApart &&= one.start >= end;
    end = Math.max(end, one.end);
  }
  return areApart ? ordered : longestFirst(ordered, end);
}

/** @param found by their beginnings @param end of all of them */
function longestFirst<One extends Finding>(found: readonly One[], end: number): One[] {
  const first = found[0]!.start;
  const taken = new Uint8Array(end - first);
  const kept: One[] = [];
  for (const finding of found.toSorted((one, other) => other.end - other.start - (one.end - one.start))) {
    let { start, end: behind } = finding;
    while (start < behind && taken[start - first]) start++;
    while (behind > start && taken[behind - 1 - first]) behind--;
    if (behind === start) continue;
    taken.fill(1, start - first, behind - first);
    kept.push({ ...finding, start, end: behind });
  }
  return kept.sort((one, other) => one.start - other.start);
}

/**
 * The smallest position of a text that goes on from which a value may still begin or grow.
 * @returns undefined: a detector has no bound
 */
export function reachOfAll(text: string, detectors: readonly Detector[]): number | undefined {
  let edge = escapedEnd(text);
  for (const form of growing(text))
    for (const { reach } of detectors) {
      if (!reach) return undefined;
      edge = Math.min(edge, form.at(reach(form.text)));
    }
  // A surrogate pair is one character.
  return edge > 0 && edge < text.length && isLow(text.charCodeAt(edge)) ? edge - 1 : edge;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
