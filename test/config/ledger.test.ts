/** The options of the ledger and of the store that workers and the keeper get. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { declarationOf } from "../../src/run/declaration.ts";
import { DEFAULT_KEEP } from "../../src/ledger/keep.ts";
import { DEFAULT_SETTINGS } from "../../src/ledger/worker/settings.ts";

function load(text: string) {
  const cwd = mkdtempSync(join(tmpdir(), "weir-config-"));
  try {
    writeFileSync(join(cwd, "weir.yaml"), text);
    return loadConfig({ env: {}, cwd }).config;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

test("a config without the options has the defaults of the ledger", () => {
  const { settings, books } = declarationOf(load("{}\n"));
  expect(settings).toEqual(DEFAULT_SETTINGS);
  expect(books).toMatchObject({ onLoss: "hard-closed", metrics: { keys: false, maxSeries: 5000 } });
});

test("workers get the options of the section ledger", () => {
  const ledger = "{tell: false, maxOutput: 500, assume: input, serverToolTokens: 0, serverToolCost: 0.25}";
  expect(declarationOf(load(`ledger: ${ledger}\n`)).settings).toEqual({
    ...{ tell: false, maxOutput: 500, assume: "input", onLoss: "hard-closed" },
    serverTools: { tokens: 0, cost: 250_000_000 },
  });
});

test("workers and the keeper get what happens to calls while the store is away", () => {
  const { settings, books } = declarationOf(load("store: {onLoss: closed}\nmetrics: {keys: true}\n"));
  expect([settings.onLoss, books.onLoss, books.metrics.keys]).toEqual(["closed", "closed", true]);
});

test("the keeper gets how long the books keep what they have", () => {
  const { keepDays, callBytes } = declarationOf(load("ledger: {callDays: 365, callBytes: 2000000}\n")).books;
  expect({ keepDays, callBytes }).toEqual({
    keepDays: { ...DEFAULT_KEEP.keepDays, calls: 365 },
    callBytes: 2_000_000,
  });
  expect(() => load("ledger: {callDays: 0}\n")).toThrow("ledger.callDays");
});

test("a wrong option of the ledger is refused with its name", () => {
  expect(() => load("ledger: {assume: half}\n")).toThrow("assume");
  expect(() => load("ledger: {maxOutput: 0}\n")).toThrow("maxOutput");
  expect(() => load("ledger: {guess: 1}\n")).toThrow("guess");
});
