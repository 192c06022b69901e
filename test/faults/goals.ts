/**
 * The goals the gateway is held to under faults, one test each: what was measured stands beside its threshold, and
 * `bun run faults` prints all of them as one table. A goal that does not hold fails its test. Times are judged by
 * `bun run faults` alone: in a test of a busy machine they are printed, and fail nothing.
 */
import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";

export interface Measured {
  /** What was seen, with its numbers. */
  measured: string;
  /** Whether what was promised happened, however long it took. */
  holds: boolean;
  /** Whether the times of the threshold were kept, for a goal that has any. */
  inTime?: boolean;
  /** By how much it falls short, and why; for a goal that holds in part. */
  short?: string;
}

/** A promise, before it is measured. */
export interface Goal {
  goal: number;
  /** Tells rows of one goal apart. */
  what: string;
  threshold: string;
}

export interface GoalRow extends Goal, Measured {}

/** Where `bun run faults` gathers the rows: a file of JSON lines. */
const ROWS = process.env["WEIR_GOALS"];
/** Where the goals are gathered without being measured: a file of JSON lines. */
const LIST = process.env["WEIR_GOAL_LIST"];

/** Goals are listed and not measured: those that need a program declare themselves where it is missing, too. */
export const LISTING = LIST !== undefined;

/**
 * One goal as a test. The measurement is written down before it is judged.
 * @param goal number in the list of goals @param timeoutMs of the test
 */
export function goal(
  number: number,
  what: string,
  threshold: string,
  measure: () => Measured | Promise<Measured>,
  timeoutMs = 60_000,
): void {
  const declared: Goal = { goal: number, what, threshold };
  if (LIST !== undefined) return appendFileSync(LIST, `${JSON.stringify(declared)}\n`);
  test(
    `goal ${number}: ${what}`,
    async () => {
      const row: GoalRow = { ...declared, ...(await measure()) };
      if (ROWS) appendFileSync(ROWS, `${JSON.stringify(row)}\n`);
      console.log(`goal ${number}  ${what}: ${row.measured} (wanted: ${threshold})`);
      expect(row).toMatchObject({ holds: true, ...(ROWS && "inTime" in row && { inTime: true }) });
    },
    timeoutMs,
  );
}
