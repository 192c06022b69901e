/** Lengths of slices of time: those that people count in. */
import { DAY_MS, HOUR_MS } from "../record/roll-ups.ts";

const MINUTE_MS = 60_000;

/** Milliseconds. */
const LENGTHS = [
  ...[1_000, 2_000, 5_000, 10_000, 15_000, 30_000],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 7, 28].map((days) => days * DAY_MS),
];

/** @param slices most slices of the time @returns the length of one; all milliseconds */
export function lengthOf(time: number, slices: number): number {
  return LENGTHS.find((length) => time / length <= slices) ?? LENGTHS.at(-1)!;
}
