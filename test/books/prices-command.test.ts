/** `weir prices` reads the price book and the config, and needs no gateway. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/command.ts";

// Each command is a process of its own.
setDefaultTimeout(120_000);

const weir = async (...args: string[]) => {
  const cwd = mkdtempSync(join(tmpdir(), "weir-prices-"));
  try {
    return await runCommand(args, { cwd });
  } finally {
    rmSync(cwd, { recursive: true });
  }
};

test("prices show lists models by a part of their name, with where each price is from", async () => {
  const { code, out } = await weir("prices", "show", "openai/gpt-5.4");
  expect(code).toBe(0);
  expect(out).toMatch(/^openai\/gpt-5\.4 +2\.5 +0\.25 +/m);
  expect(out).toContain("litellm 20");
  const rules = JSON.parse((await weir("prices", "show", "MOCK/", "--json")).out) as object[];
  expect(rules).toMatchObject([{ provider: "mock", model: "*", input: 1_000_000, output: 2_000_000 }]);
});

test("prices show exits with 1 for a model without a price", async () => {
  const { code, out, err } = await weir("prices", "show", "no-such-model");
  expect([code, out, err]).toEqual([1, "", expect.stringContaining('contains "no-such-model"')]);
});

test("prices check names the source, its licence and its day", async () => {
  const facts = JSON.parse((await weir("prices", "check", "--json")).out) as Record<string, unknown>;
  expect(facts).toMatchObject({ source: "litellm", licence: "MIT", fromConfig: 0 });
  expect(facts["models"]).toBeGreaterThan(1_000);
  expect(facts["date"]).toMatch(/^20\d\d-\d\d-\d\d$/);
});
