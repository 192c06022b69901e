/** What is learned of targets that count more input than weir expected, and forgotten. */
import { expect, test } from "bun:test";
import { MARGIN_KINDS, Margins, missed, MOST, type Parts } from "../../src/ledger/margins.ts";

const NOTHING: Parts = { words: 0, digits: 0, signs: 0, scripts: 0, media: 0, tools: 0, frame: 64 };
const HI: Parts = { ...NOTHING, words: 12, signs: 20 };
const DAY_MS = 86_400_000;

/** Margins of a target that has answered some requests. */
function learned(requests: readonly (readonly [parts: Parts, actual: number])[]) {
  const clock = { now: 0 };
  const margins = new Margins(() => clock.now);
  for (const [parts, actual] of requests)
    for (const margin of missed(parts, actual)) margins.learn({ target: "host/model", ...margin });
  return { margins, clock };
}

test("a long prompt of one kind says nothing of other kinds, and nothing of short prompts", () => {
  const { margins } = learned([[{ ...NOTHING, digits: 500_000 }, 700_000]]);
  expect(margins.of("host/model", HI)).toBe(0);
  expect(margins.of("host/model", { ...NOTHING, digits: 100 })).toBe(40);
  expect(margins.of("host/other", { ...NOTHING, digits: 100 })).toBe(0);
});

test("no prompt raises another one by more than the largest factors", () => {
  const odd = MARGIN_KINDS.map((kind) => [{ ...NOTHING, [kind]: 1000 }, 1e9] as const);
  const { margins } = learned([...odd, [NOTHING, 1e9]]);
  const more = margins.of("host/model", HI);
  expect(more).toBe(12 + 20 + 64 * (MOST.frame - 1));
  expect(more).toBeLessThan(1000);
});

test("the excess is shared by the kinds that make up most of the request", () => {
  expect(missed({ ...NOTHING, words: 1000, signs: 600, digits: 10 }, 1674 + 800)).toEqual([
    { kind: "words", factor: 1.5 },
    { kind: "signs", factor: 1.5 },
  ]);
  expect(missed(HI, 96)).toEqual([]);
});

test("half of the excess is forgotten each day, and a smaller margin takes its place then", () => {
  const { margins, clock } = learned([[{ ...NOTHING, words: 1000 }, 1864]]);
  const words = { ...NOTHING, words: 1000 };
  expect(margins.of("host/model", words)).toBe(800);
  clock.now = DAY_MS;
  expect(margins.of("host/model", words)).toBe(400);
  expect(margins.learn({ target: "host/model", kind: "words", factor: 1.3 })).toBe(false);
  expect(margins.learn({ target: "host/model", kind: "words", factor: 1.5 })).toBe(true);
  clock.now = 20 * DAY_MS;
  expect(margins.of("host/model", words)).toBeLessThan(2);
});

test("a margin of no known kind, or of no factor, is not learned", () => {
  const margins = new Margins(() => 0);
  const odd: unknown = { target: "host/model", kind: "constructor", factor: 2 };
  expect(margins.learn(odd as Parameters<Margins["learn"]>[0])).toBe(false);
  expect(margins.learn({ target: "host/model", kind: "words", factor: Number.NaN })).toBe(false);
  expect(margins.learn({ target: "host/model", kind: "words", factor: Infinity })).toBe(true);
  expect(margins.of("host/model", { ...NOTHING, words: 10 })).toBe(10);
});
