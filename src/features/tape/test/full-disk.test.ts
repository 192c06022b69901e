/** A disk without room under a tape. */
import { expect, onTestFinished, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { smallDisk } from "../../../../test/helpers/small-disk.ts";
import { createTape, readTape } from "../../../tapes/file.ts";

test("a tape leaves out a call that finds no room, and stays whole", () => {
  const small = smallDisk();
  if (!small) return;
  onTestFinished(() => small.end());
  const path = join(small.path, "a.tape");
  const add = createTape(path, "1.0.0");
  const entry = (call: number, size: number) =>
    ({ call, request: { text: "x".repeat(size) } }) as unknown as Parameters<typeof add>[0];
  add(entry(1, 10));
  small.fill();
  expect(() => add(entry(2, 20_000))).toThrow("ENOSPC");
  small.clear();
  add(entry(3, 10));
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { call?: number }).call)).toEqual([undefined, 1, 3]);
  expect(() => readTape(path, "1.0.0")).toThrow("line 2");
});
