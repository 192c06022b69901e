/** The arithmetic of the bench; what it measures is measured, not tested. */
import { expect, test } from "bun:test";
import { agentBody } from "./bodies.ts";
import { pairedMedian } from "./books.ts";
import { slope } from "./fresh.ts";
import { ROWS, worseIn } from "./hot-path.ts";
import { readPeer } from "./fronts.ts";
import { GOALS, judge, type Results } from "./goals.ts";
import { median, medians } from "./measures.ts";
import { isWorse, ratioOf } from "./ratios.ts";
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

test("the median of paired differences has an interval that noise alone does not leave", () => {
  const noise = Array.from({ length: 20 }, (_, at) => (at % 5) - 2);
  const base = Array.from({ length: 20 }, (_, at) => 30 + (at % 7));
  const found = pairedMedian(
    base.map((value, at) => value + 1 + noise[at]! / 10),
    base,
  );
  expect(found.median).toBeCloseTo(1);
  expect(found.low).toBeWithin(0.7, 1.001);
  expect(found.high).toBeWithin(0.999, 1.3);
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
  expect(judge(least!, 0.4)).toBe("met");
  expect(judge(least!, 0.26)).toBe("missed by 0.10×");
  const most = GOALS.find((goal) => goal.what.startsWith("exec"))!;
  expect(judge(most, 18)).toBe("beyond");
  expect(judge(most, 25)).toBe("met");
  expect(judge(most, 35)).toBe("missed by 10.0 ms");
});

test("a goal holds too if the binary before and this one differ by the factor that it stands for", () => {
  const [least] = GOALS;
  expect(judge(least!, 0.26, 0.2)).toBe("met");
  expect(judge(least!, 0.25, 0.2)).toBe("missed by 0.11×");
  const most = GOALS.find((goal) => goal.what.startsWith("exec"))!;
  expect(judge(most, 50, 76)).toBe("met");
  expect(judge(most, 36, 76)).toBe("beyond");
  expect(judge(most, 60, 76)).toBe("missed by 35.0 ms");
});

test("a peer is a name and an address on this machine, with the path and the model names it needs", () => {
  expect(readPeer("one=http://127.0.0.1:8080")).toEqual({ name: "one", port: 8080, prefix: "" });
  expect(readPeer("two=http://localhost:8080/openai/chat#openai/")).toEqual({
    name: "two",
    port: 8080,
    prefix: "openai/",
    path: "/openai/chat",
  });
  expect(() => readPeer("http://127.0.0.1:8080")).toThrow("NAME=URL");
  expect(() => readPeer("far=http://example.com")).toThrow("this machine");
});

test("the table says what was not measured", () => {
  const one = { perSecond: 100, p50: 20, p99: 40, cpu: 10, failed: 0, upstream: 1 };
  const results: Results = {
    date: "2000-01-01",
    machine: "a machine",
    load: [0.5, 1.25],
    rounds: 3,
    pinned: true,
    binaryMegabytes: 100,
    calls: [
      { connections: 64, kilobytes: 1, fronts: { "pass-through": one, weir: { ...one, perSecond: 60 } } },
    ],
  };
  const text = [...writeResults(results).values()].join("\n\n");
  expect(text).toContain("| … against the pass-through | 0.60× | ≥ 0.54× | ≥ 0.68× | met |");
  expect(text).toContain("| memory idle | not measured |");
  expect(text).toContain("| 1 KB | 64 | weir | 60 | 0.02 | 0.04 | 10.0 | 0 | 1.00 |");
  expect(text).toContain("Load average 0.5 at the start and 1.3 at the end.");
});

test("with a binary before this one, the table has both figures and how many times better this one's is", () => {
  const results: Results = {
    date: "2000-01-01",
    machine: "a machine",
    load: [0, 0],
    rounds: 3,
    pinned: true,
    binaryMegabytes: 100,
    startMs: { "weir before": 60, weir: 40 },
  };
  expect(writeResults(results).get("bench")).toContain(
    "| exec to first answer, files warm | 60.0 ms | 40.0 ms | 1.50 | ≤ 25 ms | ≤ 18 ms | missed by 15.0 ms |",
  );
});

test("a ratio of pairs is worse only where its whole interval is", () => {
  const before = [100, 110, 90, 105, 95];
  const half = ratioOf(
    before.map((value) => value / 2),
    before,
  );
  expect(half.ratio).toBeCloseTo(0.5);
  expect([isWorse(half, true), isWorse(half, false)]).toEqual([true, false]);
  const noise = ratioOf([90, 120, 95, 100, 97], before);
  expect([isWorse(noise, true), isWorse(noise, false)]).toEqual([false, false]);
  expect(isWorse(ratioOf([50], [100]), true)).toBe(false);
});

test("a row of the hot path is judged by its own figures, in the sense of each", () => {
  const slower = { ratio: 0.9, low: 0.85, high: 0.95 };
  const row = { name: "1 KB", fronts: {}, against: { perSecond: slower, cpu: slower } };
  expect(worseIn(ROWS[0]!, row)).toEqual(["perSecond"]);
  expect(worseIn({ judged: ["p99"] }, row)).toEqual([]);
});
