import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withAbsolutePaths } from "../absolute-paths.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-paths-"));
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "ask.py"), "");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a program by its path and arguments that name files get absolute paths, other words stay", () => {
  expect(withAbsolutePaths(["./client", "ask.py", "src", "Say hello", "-p"], folder)).toEqual([
    join(folder, "client"),
    join(folder, "ask.py"),
    ...["src", "Say hello", "-p"],
  ]);
  expect(withAbsolutePaths(["python", "/x/ask.py"], folder)).toEqual(["python", "/x/ask.py"]);
});

test("a program of PATH stays, even beside a file of its name", () => {
  expect(withAbsolutePaths(["ask.py"], folder)).toEqual(["ask.py"]);
});
