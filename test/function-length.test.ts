/** No function is longer than a screen, markup of the console aside, and the root of the sources holds the entry, the list of features and the public types alone. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { Glob } from "bun";
import { functionsIn } from "./helpers/source-words.ts";

const ROOT = resolve(import.meta.dir, "..");
const LONGEST = 60;

/** Longer functions, with the reason for which each is one. */
const LONG: Readonly<Record<string, string>> = {
  "src/server/operations.ts": "a list of operations, a line each",
  "src/cli/serve.ts": "the order in which a server starts",
  "src/features/import/litellm/models.ts": "the members of an entry, one after the other",
  "src/console/data/use-pages.ts": "one hook with its effects",
};

async function longIn(path: string) {
  const found = functionsIn(await Bun.file(resolve(ROOT, path)).text());
  return found.filter(({ lines }) => lines > LONGEST);
}

test("no function is longer than 60 lines but those with a reason", async () => {
  const tooLong: string[] = [];
  const needed = new Set<string>();
  for (const path of new Glob("{src,plugins}/**/*.ts").scanSync({ cwd: ROOT })) {
    if (path.includes("/test/")) continue;
    for (const { head, lines } of await longIn(path))
      if (path in LONG) needed.add(path);
      else tooLong.push(`${path}: ${lines} lines: ${head}`);
  }
  expect(tooLong).toEqual([]);
  // A build may lack the folder of a feature.
  const present = Object.keys(LONG).filter((path) => existsSync(resolve(ROOT, path)));
  expect(present.filter((path) => !needed.has(path))).toEqual([]);
});

test("a long function is found: declared, a method, an arrow, with parameters on lines of their own", () => {
  const body = "\n    x;".repeat(LONGEST);
  for (const head of [
    "export async function f(a: number): void {",
    "export function f(\n  a: number,\n): void {",
    "const f = async (a: number) => {",
  ])
    expect(functionsIn(`${head}${body}\n}`)[0]?.lines).toBeGreaterThan(LONGEST);
  expect(functionsIn(`class A {\n  static async #f(a: number): void {${body}\n  }\n}`)[0]?.lines).toBe(62);
  expect(functionsIn(`if (a) {${body}\n}`)).toEqual([]);
});

test("the root of the sources has three modules", () => {
  const modules = readdirSync(resolve(ROOT, "src")).filter((name) => name.endsWith(".ts"));
  expect(modules.sort()).toEqual(["features.ts", "main.ts", "plugin.ts"]);
});
