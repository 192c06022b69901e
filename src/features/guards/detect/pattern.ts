/** Values of the operator's own: a regular expression. */
import { type Detector, matchesFrom } from "./detector.ts";

const LONGEST = 256;

/** @param pattern an expression that cannot take exponential time */
export function patternDetector(name: string, pattern: string, longest = LONGEST): Detector {
  const expression = new RegExp(pattern, "gu");
  const kind = name.replace(/[^a-z]/g, "").toUpperCase() || "VALUE";
  return {
    name,
    kind,
    find: (text, from = 0) =>
      [...matchesFrom(expression, text, from)].flatMap(({ 0: { length }, index }) =>
        length > 0 ? [{ start: index, end: index + length, kind }] : [],
      ),
    reach: (text) => Math.max(0, text.length - longest),
  };
}
