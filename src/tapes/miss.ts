/** What differs between a request and those on a tape. */
import type { Tape, Wanted } from "./match.ts";

/** Lines of a diff in an error; a longer one is cut. */
const MOST_LINES = 120;

/** The nearest recorded request as a diff. */
export function describeMiss(tape: Tape, name: string, wanted: Wanted): string {
  const near = tape.nearest(wanted);
  if (!near) return `The tape ${name} has no call of the operation ${wanted.operation}.`;
  const { entry, diff } = near;
  const from = entry.format === wanted.format ? "" : `, in the format ${entry.format}`;
  if (diff.length === 0)
    return `The tape ${name} has the same request as call ${entry.call}${from}, whose answer has no equivalent in ${wanted.format}.`;
  return [
    `The tape ${name} has no answer to this request. The nearest recorded request is call ${entry.call}${from}; - is recorded, + is new:`,
    "",
    ...diff.slice(0, MOST_LINES),
    ...(diff.length > MOST_LINES ? [`  [${diff.length - MOST_LINES} more lines]`] : []),
    "",
    "What differs with each run can be listed in tape.ignore of weir.yaml.",
  ].join("\n");
}
