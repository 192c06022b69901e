/** The options of witness. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../config/load.ts";
import { nanoIn, settingsOf, witnessSection } from "../section.ts";

function load(text: string) {
  const cwd = mkdtempSync(join(tmpdir(), "weir-witness-"));
  try {
    writeFileSync(join(cwd, "weir.yaml"), text);
    return settingsOf(loadConfig({ env: {}, cwd, sections: [witnessSection] }).config);
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

test("without options witness is off", () => {
  expect(load("{}")).toEqual({
    ...{ models: [], everyMs: 3_600_000, budget: 50_000_000, outputTokens: 64 },
  });
});

test("a budget is exact to the nano-dollar", () => {
  expect(nanoIn("$0.05/day")).toBe(50_000_000);
  expect(nanoIn("1.000000001/day")).toBe(1_000_000_001);
  expect(nanoIn("12/day")).toBe(12_000_000_000);
});

test("faults name the option", () => {
  expect(() => load("witness: {models: [a/b], every: 10s}")).toThrow("every must be from 5m to 1d");
  expect(() => load("witness: {models: [nothing]}")).toThrow("provider/model");
  expect(() => load("witness: {models: [a/b, a/b]}")).toThrow("models must be at most 50 different names");
  expect(() => load("witness: {budget: 5}")).toThrow("$0.05/day");
});
