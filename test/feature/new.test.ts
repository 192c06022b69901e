/** `bun run feature NAME`: the folder, the line in its place, and names that are refused. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../helpers/documents.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-feature-"));
const run = (...args: string[]) => {
  const child = Bun.spawnSync([process.execPath, join(folder, "src/build/feature.ts"), ...args]);
  return { code: child.exitCode, said: child.stdout.toString() + child.stderr.toString() };
};
const read = (path: string) => readFileSync(join(folder, path), "utf8");

beforeAll(() => {
  for (const path of ["build", "feature", "features.ts"])
    cpSync(join(ROOT, "src", path), join(folder, "src", path), { recursive: true });
});

afterAll(() => rmSync(folder, { recursive: true }));

test("a new feature has a manifest, options, a README, a test and a line in its place", () => {
  const before = read("src/features.ts").trimEnd().split("\n");
  expect(run("early-words").code).toBe(0);
  const line = 'export { earlyWords } from "./features/early-words/index.ts";';
  const after = read("src/features.ts").trimEnd().split("\n");
  expect(after.filter((one) => one !== line)).toEqual(before);
  expect(after.slice(1)).toEqual([...after.slice(1)].sort((a, b) => (folderOf(a) < folderOf(b) ? -1 : 1)));
  expect(read("src/features/early-words/index.ts")).toContain(
    'export const earlyWords: Feature = {\n  name: "early-words"',
  );
  expect(read("src/features/early-words/section.ts")).toContain(
    'export const earlyWordsSection = section(\n  "earlyWords"',
  );
  expect(read("src/features/early-words/README.md")).toStartWith("# early-words\n");
  expect(read("src/features/early-words/test/early-words.test.ts")).not.toMatch(/NAME|CONSTANT/);
});

test("a name that rooms use for something else is listed, for the test that no room names a feature", () => {
  expect(run("exact").code).toBe(0);
  expect(existsSync(join(folder, "src/features/exact/test/other-names.json"))).toBe(false);
  expect(run("schema").code).toBe(0);
  const others = JSON.parse(read("src/features/schema/test/other-names.json")) as Record<string, string[]>;
  expect(Object.values(others).flat()).toContain("schema");
});

const folderOf = (line: string) => /features\/([^/]+)/.exec(line)![1]!;

test.each(["", "Words", "words_two", "-words", "../words", "import", "drill"])(
  "the name %j is refused, and nothing is written",
  (name) => {
    const list = read("src/features.ts");
    expect(run(name).code).toBe(2);
    expect(read("src/features.ts")).toBe(list);
    expect(existsSync(join(folder, "src/features", name, "section.ts"))).toBe(false);
  },
);
