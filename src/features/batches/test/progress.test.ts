/** The line of progress of commands, on a terminal and without one. */
import { expect, test } from "bun:test";
import { ProgressLine } from "../local/progress.ts";

function shown(isTTY: boolean) {
  let now = 0;
  const texts: string[] = [];
  const line = new ProgressLine({ isTTY, write: (text) => texts.push(text) }, () => now);
  return { line, texts, at: (ms: number) => (now = ms) };
}

const COST = { cost: 120_000_000, most: 500_000_000 };

test("on a terminal: a bar, the speed since the start of the command, and the time left", () => {
  const { line, texts, at } = shown(true);
  line.show({ lines: 0, ended: 0, failed: 0, cost: 0 });
  at(1_000);
  line.clear();
  const next = shown(true);
  next.line.show({ lines: 100, ended: 40, failed: 0, ...COST });
  next.at(10_000);
  next.line.show({ lines: 100, ended: 50, failed: 2, ...COST });
  expect(texts).toEqual([expect.stringContaining("the input is being checked"), "\r\u001b[K"]);
  expect(next.texts[1]).toBe(
    `\r\u001b[K[${"#".repeat(12)}${" ".repeat(12)}] 50 of 100 lines, 2 failed, $0.12 of at most $0.50, 1.0 lines/s, 50 s left`,
  );
});

test("without one: a whole line every few seconds", () => {
  const { line, texts, at } = shown(false);
  for (const ms of [0, 1_000, 4_000, 5_100, 6_000]) {
    at(ms);
    line.show({ lines: 10, ended: 3, failed: 0, cost: 0, paused: "the disk is full" });
  }
  line.clear();
  expect(texts).toEqual(Array<string>(2).fill("weir: 3 of 10 lines, $0.00, paused: the disk is full\n"));
});
