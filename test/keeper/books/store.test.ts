/** The store of the books over SQLite. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import type { SqlStore } from "../../../src/keeper/store/sql-store.ts";
import { IN_MEMORY } from "../../../src/keeper/settings.ts";
import { budgetAccount } from "../../../src/ledger/record.ts";
import { ACTOR, attempt, batch, call, commit, key, MONTH, NOW } from "./make.ts";
import { describeBooks } from "./store-suite.ts";

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), "weir-books-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const fresh = () => join(folder, `${files++}.db`);

async function open(path = IN_MEMORY): Promise<SqlStore> {
  const store = sqliteStore(path, () => NOW);
  await store.open();
  return store;
}

const A = budgetAccount("a", MONTH);

describeBooks(open, async () => fresh());

describe("a commit to a file", () => {
  test("that fails leaves the store as it was, and works when it is repeated", async () => {
    const store = await open();
    await store.sql.run(
      "CREATE TRIGGER fail BEFORE INSERT ON use_day BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
    );
    const records = commit({
      batches: [batch(1, [call({ attempts: [attempt({ accounts: [A] }), attempt()] })])],
    });
    await expect(store.commit(records)).rejects.toThrow("the disk is full");
    for (const table of ["calls", "charges", "use_hour", "accounts", "positions"])
      expect(await store.sql.all(`SELECT count(*) AS rows FROM ${table}`)).toEqual([{ rows: 0 }]);
    await store.sql.run("DROP TRIGGER fail");
    await store.commit(records);
    expect(await store.sql.all("SELECT count(*) AS rows FROM charges")).toEqual([{ rows: 2 }]);
  });
});

describe("the file", () => {
  test("no file of the store contains the text of a key, and its digest is the SHA-256 of that text", async () => {
    const path = fresh();
    const text = "weir_sk_synthetic_0123456789abcdef";
    const sha256 = new Bun.CryptoHasher("sha256").update(text).digest("hex");
    const store = await open(path);
    await store.saveKey(key("key_1", { digests: [{ sha256 }] }), ACTOR);
    expect((await store.policy()).keys[0]!.digests).toEqual([{ sha256 }]);
    await store.close();
    for (const file of readdirSync(folder)) {
      const content = readFileSync(join(folder, file));
      expect(content.includes(text)).toBe(false);
      expect(content.includes(text.slice(8))).toBe(false);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
