/** When which windows are compared with all that was before them. It is fixed in advance, so that the comparisons can be counted. */

/** Lengths in steps; a step is a look, or a part of a day. */
const LENGTHS = [2, 3, 4, 5, 6, 8, 12, 16, 24, 48, 96, 192, 384, 768, 1536] as const;

/** Steps before a window without which it is compared with nothing. */
export const LEAST_BEFORE = 12;
const YEAR_MS = 366 * 86_400_000;

/** A long window is compared less often: two that overlap almost wholly say the same. */
const strideOf = (length: number): number => Math.max(1, Math.floor(length / 4));

/** The windows that end with step number `count` of a series. @param least length of the shortest one */
export function windowsAt(count: number, least: number): number[] {
  return LENGTHS.filter(
    (length) => length >= least && count - length >= LEAST_BEFORE && count % strideOf(length) === 0,
  );
}

/** The most windows of a year. @param stepMs milliseconds between two steps */
export function windowsPerYear(stepMs: number, least: number): number {
  const steps = Math.ceil(YEAR_MS / stepMs);
  const lengths = LENGTHS.filter((length) => length >= least);
  return lengths.reduce((sum, length) => sum + Math.ceil(steps / strideOf(length)), 0);
}
