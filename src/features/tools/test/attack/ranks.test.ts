/** The rank test tells samples that differ from those that do not. */
import { expect, test } from "bun:test";
import { differenceOf } from "./ranks.ts";

const row = (count: number, valueOf: (at: number) => number) =>
  Array.from({ length: count }, (_, at) => valueOf(at));

test("equal samples differ by chance, and a small shift is seen", () => {
  const even = row(500, (at) => at);
  expect(differenceOf(even, [...even])).toBeGreaterThan(0.99);
  expect(
    differenceOf(
      even,
      row(500, (at) => at + 0.5),
    ),
  ).toBeGreaterThan(0.9);
  expect(
    differenceOf(
      even,
      row(500, (at) => at + 50),
    ),
  ).toBeLessThan(0.001);
  expect(
    differenceOf(
      row(20, () => 1),
      row(20, () => 1),
    ),
  ).toBe(1);
});

test("agrees with a known value", () => {
  // U = 22 of 6 and 8 values: z = 0.258 without a correction for continuity.
  const a = [1, 4, 6, 9, 10, 13];
  const b = [2, 3, 5, 7, 8, 11, 12, 14];
  expect(differenceOf(a, b)).toBeCloseTo(0.796, 3);
});
