/** Sizes and durations with a unit. */
import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { bytesIn, duration, msIn, size } from "../../src/config/sections/amounts.ts";

test.each([
  ["1B", 1],
  ["64KB", 65_536],
  ["512MB", 536_870_912],
  ["10GB", 10_737_418_240],
  ["2TB", 2_199_023_255_552],
])("%s is %i bytes", (text, bytes) => {
  expect(Value.Check(size("1MB", ""), text)).toBe(true);
  expect(bytesIn(text)).toBe(bytes);
});

test.each([
  ["1s", 1_000],
  ["90m", 5_400_000],
  ["24h", 86_400_000],
  ["30d", 2_592_000_000],
])("%s is %i milliseconds", (text, ms) => {
  expect(Value.Check(duration("1h", ""), text)).toBe(true);
  expect(msIn(text)).toBe(ms);
});

test.each(["", "0MB", "1 MB", "1mb", "1.5GB", "-1MB", "1", "1d "])("%j is neither", (text) => {
  expect(Value.Check(size("1MB", ""), text)).toBe(false);
  expect(Value.Check(duration("1h", ""), text)).toBe(false);
});
