/** Leaves out what differs between two runs of the same program: the date of today, and times and ids that its tools print. */

/** The place of what does not count. */
const ANY = "*";

const DATES: readonly RegExp[] = [
  /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g,
  /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{1,2}(?:, \d{4}| \d\d:\d\d(?::\d\d)?(?: \w+)? \d{4}| \d{4})/g,
];

/** In results of tools only: elsewhere a number may be what the user asks about. */
const PRINTED: readonly RegExp[] = [
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g,
  /\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|secs|seconds?|minutes?)\b/g,
  /\b[0-9a-f]{6,40}\b/g,
];

const RESULT = /^( *)(?:failed )?result of /;

/**
 * The lines of a meaning without what differs between two runs.
 * @param ignored patterns of the operator
 */
export function looseLines(lines: readonly string[], ignored: readonly RegExp[] = []): string[] {
  const everywhere = [...ignored, ...DATES];
  /** The indent of the result whose lines follow; -1 outside of results. */
  let result = -1;
  return lines.map((line) => {
    const indent = line.length - line.trimStart().length;
    if (indent <= result) result = -1;
    const begins = RESULT.exec(line);
    if (begins) result = begins[1]!.length;
    const undated = without(line, everywhere);
    return result >= 0 && !begins ? without(undated, PRINTED) : undated;
  });
}

function without(line: string, patterns: readonly RegExp[]): string {
  return patterns.reduce((left, pattern) => left.replace(pattern, ANY), line);
}
