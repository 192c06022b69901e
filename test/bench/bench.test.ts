/** The arithmetic of the bench; what it measures is measured, not tested. */
import { expect, test } from "bun:test";
import { agentBody } from "./bodies.ts";
import { GOALS, judge, type Results } from "./goals.ts";
import { median, medians, slope } from "./measures.ts";
import { writeResults } from "./table.ts";

test("medians, column by column", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(
    medians([
      { a: 1, b: 9 },
      { a: 5, b: 2 },
      { a: 2, b: 3 },
    ]),
  ).toEqual({ a: 2, b: 3 });
});

test("the slope of a line is found in noise", () => {
  expect(slope([0, 1, 2, 3].map((x) => [x, 10 + 2 * x] as const))).toBeCloseTo(2);
  expect(slope([0, 1, 2, 3, 4].map((x) => [x, 5 + (x % 2)] as const))).toBeCloseTo(0);
});

test("bodies have about the size that was asked for and are what a client sends", () => {
  for (const bytes of [1_000, 20_000, 200_000]) {
    const text = agentBody({ model: "bench", stream: false, bytes });
    expect(text.length / bytes).toBeWithin(0.9, 1.5);
    expect(JSON.parse(text).messages.length).toBeGreaterThan(1);
  }
});

test("a goal is beyond, met or missed by an amount, in either sense", () => {
  const [least] = GOALS;
  expect(judge(least!, 2)).toBe("beyond");
  expect(judge(least!, 0.8)).toBe("met");
  expect(judge(least!, 0.5)).toBe("missed by 0.25×");
  const most = GOALS.find((goal) => goal.what.startsWith("exec"))!;
  expect(judge(most, 20)).toBe("beyond");
  expect(judge(most, 50)).toBe("met");
  expect(judge(most, 70)).toBe("missed by 10.0 ms");
});

test("the table says what was not measured", () => {
  const one = { perSecond: 100, p50: 20, p99: 40, cpu: 10, failed: 0 };
  const results: Results = {
    date: "2000-01-01",
    machine: "a machine",
    rounds: 3,
    pinned: true,
    binaryMegabytes: 100,
    calls: [
      { connections: 64, kilobytes: 1, fronts: { "pass-through": one, weir: { ...one, perSecond: 80 } } },
    ],
  };
  const text = writeResults(results);
  expect(text).toContain(
    "| requests/s, 1 KB, 64 connections, against the pass-through | 0.80× | ≥ 0.75× | ≥ 1.4× | met |",
  );
  expect(text).toContain("| memory idle | not measured |");
  expect(text).toContain("| 1 KB | 64 | weir | 80 | 0.02 | 0.04 | 10.0 | 0 |");
});
