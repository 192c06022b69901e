/** Proofs of new rows: green over books that weir wrote, red for new rows that were changed by hand, and the sums that they build on. */
import { expect, test } from "bun:test";
import { PROOF_TABLES } from "../../../src/keeper/proof/tables.ts";
import { STEP } from "../../../src/keeper/proof/since.ts";
import { removeKey } from "../../../src/keeper/record/deletion.ts";
import { Reports } from "../../../src/keeper/reports/reports.ts";
import { IN_MEMORY } from "../../../src/keeper/settings.ts";
import type { SqlStore } from "../../../src/keeper/store/sql-store.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { proofOf, writing } from "./proof-world.ts";
import { NOW } from "./make.ts";

async function kept(): Promise<{ store: SqlStore; reports: Reports }> {
  const store = sqliteStore(IN_MEMORY, () => NOW, [PROOF_TABLES]);
  await store.open();
  return { store, reports: new Reports(store.sql, store.sql, () => NOW, store.sql, [PROOF_TABLES]) };
}

test("S16: proofs of new rows go on behind the last one and count what they have proven", async () => {
  const { store, reports } = await kept();
  const write = await writing(store);
  expect(await reports.prover.since()).toBe("none");
  await write(200);
  expect((await reports.audit()).holds).toBeTrue();
  for (const [count, all] of [
    [300, 300],
    [0, 300],
    [100, 400],
  ] as const) {
    await write(count);
    expect(await reports.prover.since()).toEqual({ proven: count });
    expect(await reports.lastProof()).toMatchObject({ calls: all, at: NOW, report: { holds: true } });
  }
  expect((await reports.audit()).holds).toBeTrue();
});

test("S16: many new rows are proven in steps", async () => {
  const { store, reports } = await kept();
  const write = await writing(store);
  await reports.audit();
  const count = 2 * STEP + 100;
  await write(count);
  expect(await reports.prover.since()).toEqual({ proven: count });
  expect(await reports.prover.since()).toEqual({ proven: 0 });
}, 60_000);

test("S16: a new row that was changed by hand is found, and so is a sum", async () => {
  const one =
    "WHERE number = (SELECT max(number) FROM calls WHERE tries = 1 AND state = 0 AND cost > 0 AND accounts IS NOT NULL)";
  const changes = [
    `UPDATE calls SET cost = cost + 1 ${one}`,
    `UPDATE calls SET state = 3 ${one}`,
    `UPDATE calls SET input = input + 1 ${one}`,
    `UPDATE calls SET accounts = NULL ${one}`,
    `UPDATE calls SET price = NULL ${one}`,
    `DELETE FROM calls ${one}`,
    "UPDATE use_hour SET cost = cost + 1 WHERE hour = (SELECT max(hour) FROM use_hour) AND caller = (SELECT max(caller) FROM use_hour)",
    "UPDATE use_day SET input = input + 1 WHERE day = (SELECT max(day) FROM use_day) AND caller = (SELECT max(caller) FROM use_day)",
    "UPDATE accounts SET spent = spent - 1",
    "UPDATE meta SET value = 1 WHERE name = 'dropped_calls'; INSERT OR IGNORE INTO meta VALUES ('dropped_calls', 1)",
  ];
  for (const change of changes) {
    const { store, reports } = await kept();
    const write = await writing(store);
    await write(200);
    await reports.audit();
    await write(200);
    for (const statement of change.split(";")) await store.sql.run(statement);
    expect([change, await reports.prover.since()]).toEqual([change, { fault: expect.any(String) }]);
    expect([change, (await reports.audit()).holds]).toEqual([change, false]);
    // Nothing is built on books that do not hold.
    expect(await reports.prover.since()).toBe("none");
  }
});

test("S16: an old row that was changed by hand is found by the proof of all rows, not by the one of new rows", async () => {
  const { store, reports } = await kept();
  const write = await writing(store);
  await write(200);
  await reports.audit();
  await store.sql.run(
    "UPDATE calls SET cost = cost + 1 WHERE number = (SELECT min(number) FROM calls WHERE tries = 1)",
  );
  await write(100);
  expect(await reports.prover.since()).toEqual({ proven: 100 });
  expect((await reports.audit()).holds).toBeFalse();
});

test("S16: after the calls of a key were removed all rows are proven again", async () => {
  const { store, reports } = await kept();
  const write = await writing(store);
  await write(200);
  await reports.audit();
  await write(100);
  await removeKey(store.sql, "key_1", async () => {}, [PROOF_TABLES]);
  expect(await reports.prover.since()).toBe("none");
  expect(proofOf(await reports.audit())).toEqual([]);
  await write(100);
  expect(await reports.prover.since()).toEqual({ proven: 100 });
});
