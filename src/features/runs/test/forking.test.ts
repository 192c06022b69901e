/** What of a fork comes from the tape, request by request. */
import { expect, test } from "bun:test";
import type { TapeEntry } from "../../../gateway/recording/entry.ts";
import type { Wanted } from "../../../tapes/match.ts";
import { Forking } from "../fork/forking.ts";

const meaning = (line: string) => ({ model: "m", lines: [line], options: {} });
const wanted = (line: string, operation = "generate"): Wanted => ({
  ...{ operation, format: "f", stream: false, meaning: meaning(line) },
});
const entry = (call: number, line: string, operation = "generate"): TapeEntry => ({
  ...{ call, operation, format: "f", stream: false, request: meaning(line) },
  ...{ status: 200, headers: {}, answer: [`${call}`] },
});
const forking = (at: number, ...entries: TapeEntry[]) => new Forking(entries, at, []);
const numberOf = (found: ReturnType<Forking["call"]>): number | string =>
  "entry" in found ? found.entry.call : found.kind;

test("calls before the fork come from the tape, and all others run", () => {
  const fork = forking(3, entry(1, "a"), entry(2, "b"), entry(3, "c"), entry(4, "d"));
  expect(["a", "b", "c", "d", "new"].map((line) => numberOf(fork.call(wanted(line))))).toEqual([
    ...[1, 2, "live", "live", "live"],
  ]);
});

test("a request that the run had again behind the fork runs there", () => {
  const fork = forking(3, entry(1, "a"), entry(2, "b"), entry(3, "a"));
  expect(["a", "b", "a", "b"].map((line) => numberOf(fork.call(wanted(line))))).toEqual([
    1,
    2,
    "live",
    "live",
  ]);
});

test("a client that sends a request of the tape once more before the fork gets the same answer", () => {
  const fork = forking(3, entry(1, "a"), entry(2, "b"), entry(3, "c"));
  expect(["a", "a", "b"].map((line) => numberOf(fork.call(wanted(line))))).toEqual([1, 1, 2]);
  expect(fork.isForked).toBe(false);
});

test("another way before the fork is missed, and does not run", () => {
  const fork = forking(3, entry(1, "a"), entry(2, "b"), entry(3, "c"));
  expect(["a", "other", "b", "other"].map((line) => numberOf(fork.call(wanted(line))))).toEqual([
    ...[1, "missed", 2, "live"],
  ]);
});

test("a count of tokens does not begin the fork", () => {
  const fork = forking(2, entry(1, "a"), entry(2, "n", "count"));
  expect(numberOf(fork.call(wanted("n", "count")))).toBe("live");
  expect(numberOf(fork.call(wanted("x", "count")))).toBe("missed");
  expect(fork.isForked).toBe(false);
  expect(numberOf(fork.call(wanted("a")))).toBe(1);
});

test("a late request of the part before the fork still comes from the tape", () => {
  const fork = forking(3, entry(1, "a"), entry(2, "title"), entry(3, "c"));
  expect(["a", "c", "title"].map((line) => numberOf(fork.call(wanted(line))))).toEqual([1, "live", 2]);
});

test("messages to tools do not begin the fork, and those of the taped part are never other than from the tape", () => {
  const fork = forking(3, entry(1, "a"), entry(2, "append", "tool"), entry(3, "b"));
  const message = (line: string) => fork.message(wanted(line, "tool")).kind;
  expect(["append", "append", "other"].map(message)).toEqual(["taped", "taped", "missed"]);
  fork.call(wanted("a"));
  fork.call(wanted("b"));
  expect(["append", "other"].map(message)).toEqual(["again", "live"]);
});
