/** A store with ten thousand keys: what a change reads and tells is the change, and not all keys. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { Books } from "../../../src/keeper/books/books.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { StoredPolicy } from "../../../src/keeper/store/stored-policy.ts";
import type { BooksDown } from "../../../src/ledger/messages.ts";
import { RECORD_FORMAT } from "../../../src/ledger/record.ts";
import { ACTOR, budget, key } from "./make.ts";

setDefaultTimeout(120_000);

const KEYS = 10_000;
/** The promise for one key; the best of twenty, because the machine is busy. Milliseconds. */
const PROMISE_MS = 5;

test("a key among ten thousand is made in a few milliseconds, and a change is told alone", async () => {
  const store = sqliteStore(":memory:");
  await store.open();
  const entries = Array.from({ length: KEYS }, (_, at) => key(`key_${at}`));
  await store.sql.transaction(async (inner) => {
    // The usual way would be one transaction each.
    for (const { id, name, kind, path } of entries)
      await inner.run(
        `INSERT INTO keys (id, name, kind, path, tags, scopes, cut, declared, created_at, created_by, version)
         VALUES ($1, $2, $3, $4, '[]', '{}', 0, 0, 1, 'test', 0)`,
        [id, name, kind, path],
      );
  });
  const books = new Books({ store });
  books.open();
  await books.opened;
  const heard: BooksDown[] = [];
  const connection = books.connect((message) => heard.push(message));
  connection.receive({ kind: "hello", format: RECORD_FORMAT, life: "life", worker: 1, seq: 0, shares: [] });
  expect(books.policy.keys).toHaveLength(KEYS);
  const took: number[] = [];
  for (let at = 0; at < 20; at++) {
    const began = performance.now();
    await store.saveKey(key(`new_${at}`), ACTOR);
    await books.refresh();
    took.push(performance.now() - began);
    expect(heard.at(-1)).toMatchObject({
      kind: "changes",
      upserts: { keys: [{ id: `new_${at}` }] },
      removed: [],
    });
  }
  took.sort((one, other) => one - other);
  console.log(`of ${KEYS} keys, one more: p50 ${took[10]!.toFixed(1)} ms, at best ${took[0]!.toFixed(1)} ms`);
  expect(took[0]!).toBeLessThan(10 * PROMISE_MS);
  // Changed, deleted and revoked entries are told too.
  await store.saveKey(key("key_5", { revokedAt: 7 }), ACTOR);
  await store.saveBudget(budget("one"), ACTOR);
  await books.refresh();
  expect(heard.at(-1)).toMatchObject({
    upserts: { keys: [{ id: "key_5", revokedAt: 7 }], budgets: [{ id: "one" }] },
  });
  await store.deleteBudget("one", ACTOR);
  await books.refresh();
  expect(heard.at(-1)).toMatchObject({ removed: ["one"] });
  expect(books.policy.keys).toHaveLength(KEYS + 20);
  // As another process reads the same store, from its beginning.
  const { keys, budgets } = await new StoredPolicy().read(store.sql);
  expect(books.policy).toMatchObject({ keys, budgets });
  await books.close();
});
