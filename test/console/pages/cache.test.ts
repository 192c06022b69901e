/** Words and arithmetic of the page Cache. */
import { expect, test } from "bun:test";
import {
  adviceOn,
  pauseOf,
  readShare,
  stretchesOf,
  wordsOf,
} from "../../../src/console/pages/cache/reasons.ts";
import type { CacheBreak, CacheSession } from "../../../src/console/data/types.ts";

const BREAK: CacheBreak = { reason: "changed", section: "system[1]", afterMs: 372_000, tokens: 9, cost: 9 };

test("each reason has words behind its section, and an advice", () => {
  const cases: [string, CacheBreak["reason"]][] = [
    ["changed", "changed"],
    ["came in another order", "reordered"],
    ["was forgotten", "expired"],
    ["went to another deployment", "deployment"],
    ["was not read by the provider", "provider"],
  ];
  for (const [words, reason] of cases) {
    expect(wordsOf({ reason })).toBe(words);
    expect(adviceOn({ reason })).toEndWith(".");
  }
});

test("the pause is named where it is the reason", () => {
  expect(pauseOf(BREAK)).toBeUndefined();
  expect(pauseOf({ ...BREAK, reason: "expired" })).toBe("after 6 min 12 s");
});

test("the share that was read is one of all prompt tokens", () => {
  expect(readShare({ input: 1, cacheRead: 8, cacheWrite: 1 })).toBe(0.8);
  expect(readShare({ input: 0, cacheRead: 0, cacheWrite: 0 })).toBeUndefined();
});

test("breaks stand with the call before each, and calls between are folded", () => {
  const call = (id: number, broken = false) =>
    ({ id: String(id), ...(broken && { break: BREAK }) }) as CacheSession["calls"][number];
  const shape = (calls: CacheSession["calls"]) =>
    stretchesOf(calls).map((one) => ("call" in one ? one.call.id : one.folded.length));
  expect(shape([])).toEqual([]);
  expect(shape([call(0), call(1)])).toEqual(["0", "1"]);
  const calls = Array.from({ length: 12 }, (_, at) => call(at, at === 6));
  expect(shape(calls)).toEqual(["0", 4, "5", "6", 4, "11"]);
  // Fewer than three take no more room than the words that would hide them.
  expect(shape(calls.slice(3, 9))).toEqual(["3", "4", "5", "6", "7", "8"]);
});
