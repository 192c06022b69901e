import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assemble } from "../../src/run/assemble.ts";
import { startTable } from "../../src/cli/start-table.ts";
import { loadConfig } from "../../src/config/load.ts";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import { shippedSnapshot } from "../../src/ledger/prices/shipped.ts";
import type { KeyEntry } from "../../src/ledger/policy.ts";
import { startWeir } from "../../src/run/weir.ts";
import { ACTOR, key } from "../keeper/books/make.ts";

const DAY_MS = 86_400_000;

test("the start table says when the price book is older than 60 days", async () => {
  const { config } = loadConfig({ env: {}, cwd: import.meta.dir });
  const parts = await assemble(config, {});
  const imported = Date.parse(shippedSnapshot().head.date);
  const after = (days: number) =>
    startTable(
      { url: "http://127.0.0.1:9347", parts, answers: "in memory" },
      config,
      { place: "in memory", keys: 0, isOpen: true },
      true,
      imported + days * DAY_MS,
    );
  expect(after(0)).not.toContain("prices");
  expect(after(60)).not.toContain("prices");
  expect(after(61)).toContain(
    "\n  prices: 61 days old; update weir, or set prices of newer models in the config\n",
  );
});

test("the start table names the forms of credentials beside keys", async () => {
  const { config } = loadConfig({ env: {}, cwd: import.meta.dir });
  const parts = await assemble(config, {});
  const table = (keys: number, forms: string[]) =>
    startTable(
      { url: "http://127.0.0.1:9347", parts },
      config,
      { place: "in memory", keys, isOpen: false, forms },
      true,
    );
  expect(table(2, [])).toContain("\n  keys: 2\n");
  expect(table(2, ["tokens of a", "tokens of b"])).toContain("\n  keys: 2, and tokens of a, tokens of b\n");
  expect(table(0, ["tokens of a"])).toContain("\n  keys: none; calls come with tokens of a\n");
});

test.each<[string, Partial<KeyEntry>[], string]>([
  ["no keys", [], "none (loopback only)"],
  ["two keys", [{ id: "one" }, { id: "two" }], "2\n"],
  ["a key and an admin key", [{ id: "one" }, { id: "two", kind: "admin" }], "1\n"],
  ["a revoked key", [{ id: "one", revokedAt: 1 }], "none that is valid, and calls need one"],
])("the start table counts the keys of a store with %s", async (_, stored, line) => {
  const folder = mkdtempSync(join(tmpdir(), "weir-start-table-"));
  const store = sqliteStore(join(folder, "weir.db"));
  await store.open();
  for (const { id, ...changes } of stored) await store.saveKey(key(id!, changes), ACTOR);
  await store.close();
  const env = { WEIR_STATE: folder };
  const { config } = loadConfig({ env, cwd: folder });
  const weir = await startWeir({ config: { ...config, port: 0 }, env, write: () => {} });
  try {
    const table = startTable(weir, config, await weir.books(), true);
    expect(table).toContain(`\n  keys: ${line}`);
    expect(table).toContain(`\n  books: in ${folder}/weir.db\n`);
    expect(table.includes("authorization: Bearer")).toBe(stored.length > 0);
  } finally {
    await weir.stop();
    rmSync(folder, { recursive: true });
  }
});

test.each<[string, Partial<KeyEntry>[], boolean, RegExp]>([
  [
    "a sign-in link without an admin key, on a terminal",
    [{ id: "one" }],
    true,
    /\n {2}console (http:\/\/127\.0\.0\.1:\d+)\/console#t=[\w-]{43}\n/,
  ],
  [
    "the address alone with one",
    [{ id: "two", kind: "admin" }],
    true,
    /\n {2}console (http:\/\/127\.0\.0\.1:\d+)\/console\n/,
  ],
  [
    "a link when the only admin key is revoked",
    [{ id: "two", kind: "admin", revokedAt: 1 }],
    true,
    /\n {2}console (\S+)#t=\S+\n/,
  ],
  [
    "no link in a log",
    [{ id: "one" }],
    false,
    /\n {2}console http:\/\/127\.0\.0\.1:\d+\/console; weir console prints a link that signs in\n/,
  ],
])("the start table prints the console: %s", async (_, stored, isTerminal, line) => {
  const folder = mkdtempSync(join(tmpdir(), "weir-start-table-"));
  const store = sqliteStore(join(folder, "weir.db"));
  await store.open();
  for (const { id, ...changes } of stored) await store.saveKey(key(id!, changes), ACTOR);
  await store.close();
  const env = { WEIR_STATE: folder };
  const { config } = loadConfig({ env, cwd: folder });
  const adminCredential = "a".repeat(40);
  const weir = await startWeir({ config: { ...config, port: 0 }, env, write: () => {}, adminCredential });
  try {
    expect(startTable(weir, config, await weir.books(), isTerminal)).toMatch(line);
  } finally {
    await weir.stop();
    rmSync(folder, { recursive: true });
  }
});

test("books that cannot be opened refuse the start, before it listens", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-start-table-"));
  mkdirSync(join(folder, "weir.db"));
  const env = { WEIR_STATE: folder };
  const { config } = loadConfig({ env, cwd: folder });
  const started = startWeir({ config: { ...config, port: 0 }, env, write: () => {} });
  await expect(started).rejects.toThrow(/the books cannot be opened: .*weir\.db cannot be opened/);
  rmSync(folder, { recursive: true });
});
