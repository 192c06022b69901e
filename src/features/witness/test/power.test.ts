/** The tests find what the README promises, within its looks, and find nothing where nothing changes. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { ERROR_PER_YEAR, limitsOf } from "../judge/limits.ts";
import { logTail } from "../stats/tail.ts";
import { windowsAt, windowsPerYear } from "../stats/windows.ts";
import { falseAlarms } from "./false-alarms.ts";
import { POWER, trial } from "./power.ts";

setDefaultTimeout(240_000);

/** Trials of a kind; of changes that are found for certain one is as good as ten. */
const TRIALS = 3;

test("changes are found by their kinds within the looks that the README promises", () => {
  const late: string[] = [];
  let trials = 0;
  for (const promised of POWER)
    for (let seed = 1; seed <= TRIALS; seed++) {
      const { found, looks } = trial(promised, seed * 31 + 7, 2_400);
      trials++;
      if (found && promised.kinds.includes(found.kind) && looks > 0 && looks <= promised.looks) continue;
      late.push(`${promised.name}: ${found?.kind} after ${looks}`);
    }
  // Nine of ten are promised.
  expect(late.length, late.join("; ")).toBeLessThanOrEqual(trials / 10);
});

test("twenty years without a change have no alarm", () => {
  expect(falseAlarms(20, 3)).toEqual({ answers: 0, exact: 0, speed: 0 });
});

test("a change of weir's own config is never one of the provider, however much changes with it", () => {
  const own = { version: "1", plugins: "p", provider: "changed", parts: {}, requests: {} };
  for (const { change } of POWER) {
    const { found } = trial({ name: "", change: { ...change, own }, kinds: [], looks: 0 }, 5, 400);
    expect(found).toBeUndefined();
  }
});

test("tails are those of all selections, counted one by one", () => {
  for (const [all, marked, drawn] of [
    [10, 4, 5],
    [12, 3, 2],
    [9, 9, 4],
    [8, 1, 7],
  ] as const)
    for (let found = 0; found <= drawn; found++) {
      let [hits, selections] = [0, 0];
      for (let set = 0; set < 2 ** all; set++) {
        if (bits(set) !== drawn) continue;
        selections++;
        if (bits(set & (2 ** marked - 1)) >= found) hits++;
      }
      expect(Math.exp(logTail(all, marked, drawn, found))).toBeCloseTo(hits / selections, 10);
    }
});

function bits(set: number): number {
  let count = 0;
  for (let left = set; left > 0; left >>= 1) count += left & 1;
  return count;
}

test("no year has more windows than the error is divided by", () => {
  const looks = 366 * 24;
  for (const least of [2, 6]) {
    let windows = 0;
    for (let look = 1; look <= looks; look++) windows += windowsAt(look, least).length;
    expect(windows).toBeGreaterThan(looks);
    expect(windows).toBeLessThanOrEqual(windowsPerYear(3_600_000, least));
  }
  expect(Math.exp(limitsOf(1, 3_600_000).exact) * windowsPerYear(3_600_000, 2)).toBeLessThan(
    ERROR_PER_YEAR / 10,
  );
});
