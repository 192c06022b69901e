/**
 * What a change of structure must not change: each text against the file of its name in `frozen/`. A commit that changes what weir
 * does writes them with `UPDATE=1`, and its reader sees the difference.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/command.ts";
import { type FrozenCalls, frozenCalls } from "./calls.ts";
import { readOldStore } from "./read-store.ts";
import * as texts from "./texts.ts";

setDefaultTimeout(120_000);

const UPDATE = process.env["UPDATE"] === "1";
const FOLDER = join(import.meta.dir, "frozen");

function expectFrozen(name: string, text: string): void {
  const file = join(FOLDER, name);
  if (UPDATE) writeFileSync(file, `${text.trimEnd()}\n`);
  expect(text.trimEnd()).toBe(readFileSync(file, "utf8").trimEnd());
}

describe("texts", () => {
  test.each([
    ["help.txt", texts.helpText],
    ["manual.1", texts.manualPage],
    ["completions.txt", texts.completions],
    ["config-schema.txt", texts.configSchema],
    ["tables.sql", texts.tables],
    ["metrics.txt", texts.metrics],
    ["admin-api.txt", texts.adminApi],
  ] as const)("%s", async (name, text) => expectFrozen(name, await text()));

  test("config-show.txt", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "weir-freeze-"));
    writeFileSync(
      join(cwd, "weir.yaml"),
      "retries: { attempts: 2 }\naliases: { fast: openai/gpt-5.4-mini }\n",
    );
    const { code, out } = await runCommand(["config", "show"], { cwd });
    rmSync(cwd, { recursive: true });
    expect(code).toBe(0);
    expectFrozen("config-show.txt", out.replaceAll(cwd, "FOLDER"));
  });
});

describe("42 calls", () => {
  let calls: FrozenCalls;
  beforeAll(async () => void (calls = await frozenCalls()));

  test.each([
    ["answers.txt", "answers"],
    ["log.txt", "log"],
    ["rows.txt", "rows"],
    ["api.txt", "api"],
  ] as const)("%s", (name, part) => expectFrozen(name, calls[part]));
});

test("store.txt: the store of an earlier release, as commands read it", async () => {
  expectFrozen("store.txt", await readOldStore(join(FOLDER, "store.json.gz")));
});
