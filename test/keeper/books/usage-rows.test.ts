/** Sums of calls by what the roll-ups do not tell apart: client, session, state of the charge, five minutes. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Reports } from "../../../src/keeper/reports/reports.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { IN_MEMORY } from "../../../src/keeper/settings.ts";
import type { CallRecord } from "../../../src/ledger/record.ts";
import { attempt, batch, call, commit, NOW } from "./make.ts";

setDefaultTimeout(120_000);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SESSION = "0123456789abcdef";

async function withCalls(calls: readonly CallRecord[]): Promise<Reports> {
  const store = sqliteStore(IN_MEMORY, () => NOW);
  await store.open();
  await store.commit(commit({ batches: [batch(1, calls)] }));
  return new Reports(store.sql, store.sql, () => NOW);
}

const usage = { input: 1, cacheRead: 2, cacheWrite: 3, cacheWrite1h: 1, output: 4, reasoning: 2 };

/** Calls of all kinds, in the hour before {@link NOW}. */
const CALLS: readonly CallRecord[] = [
  call({ client: "sdk/1.0", session: SESSION, firstMs: 3 }),
  call({ client: "sdk/2.0 (linux)", key: "key_b" }),
  call({ client: "curl/8.5", status: 402, outcome: "failed", refused: "budget", attempts: [] }),
  call({ attempts: [attempt({}, { state: "estimated", cost: 5, doubt: "tier" })] }),
  call({ attempts: [attempt({ usage: { ...usage, searches: 3 } }, { state: "reported", cost: 11 })] }),
  call({ attempts: [attempt({}, { state: "unpriced", cost: 0 })] }),
  call({
    client: "sdk/1.0",
    attempts: [
      attempt({ class: "no-bytes" }, { state: "assumed", cost: 7 }),
      attempt({ provider: "other", usage: { ...usage, searches: 2 } }, { state: "metered", cost: 9 }),
    ],
  }),
];

describe("usage of the calls themselves", () => {
  test("is to the last token that of the sums by hour", async () => {
    const reports = await withCalls(CALLS);
    const range = { from: NOW - HOUR, to: NOW + HOUR };
    for (const by of [[], ["model"], ["provider", "key"], ["path"], ["hour"]] as const) {
      const summed = await reports.usage({ ...range, by });
      const counted = await reports.usage({ ...range, by, exact: true });
      expect(counted.total).toEqual(summed.total);
      const byGroup = (rows: typeof summed.rows) =>
        rows.toSorted((a, b) => JSON.stringify(a.group).localeCompare(JSON.stringify(b.group)));
      expect(byGroup(counted.rows)).toEqual(byGroup(summed.rows));
    }
    const filter = { provider: "other", by: ["model"] } as const;
    expect((await reports.usage({ ...filter, exact: true })).total).toEqual(
      (await reports.usage(filter)).total,
    );
  });

  test("S13: is by family of the client, by session, by state of the charge", async () => {
    const reports = await withCalls(CALLS);
    const rows = async (...by: ("client" | "session" | "state")[]) =>
      Object.fromEntries(
        (await reports.usage({ by })).rows.map(({ group, calls, cost }) => [
          Object.values(group).join(),
          [calls, cost],
        ]),
      );
    const usual = 200_000;
    expect(await rows("client")).toEqual({
      "sdk/": [3, 2 * usual + 16],
      "curl/": [1, 0],
      "": [3, 16],
    });
    expect(await rows("session")).toEqual({ [SESSION]: [1, usual], "": [6, usual + 32] });
    // A call with several attempts is counted with the last one; each attempt has its own cost.
    expect(await rows("state")).toEqual({
      certain: [4, 2 * usual + 20],
      estimated: [1, 5],
      assumed: [0, 7],
      unpriced: [1, 0],
      "": [1, 0],
    });
  });

  test("S13: can be narrowed to one of them, and divided", async () => {
    const reports = await withCalls(CALLS);
    const total = async (filter: Parameters<Reports["usage"]>[0]) => (await reports.usage(filter)).total;
    expect(await total({ client: "sdk/", by: ["key"] })).toMatchObject({ calls: 3, attempts: 4 });
    expect(await total({ session: SESSION, by: ["model"] })).toMatchObject({ calls: 1 });
    expect(await total({ state: "assumed", by: ["model"] })).toMatchObject({ attempts: 1, cost: 7 });
    expect(await total({ state: "certain", by: [] })).toMatchObject({ attempts: 4 });
    expect(await total({ state: "uncertain", by: [] })).toMatchObject({ attempts: 2, cost: 12 });
  });

  test("S13: has five minutes, and does not extend its time to whole hours", async () => {
    const start = NOW - (NOW % (5 * MINUTE));
    const at = (startedAt: number) => call({ startedAt });
    const reports = await withCalls([at(start - 7 * MINUTE), at(start - 1), at(start), at(start)]);
    const { rows, from } = await reports.usage({ from: start - 5 * MINUTE, by: ["5min"] });
    expect(from).toBe(start - 5 * MINUTE);
    expect(rows.map(({ group, calls }) => [group["5min"], calls])).toEqual([
      [new Date(start - 5 * MINUTE).toISOString().slice(0, 16), 1],
      [new Date(start).toISOString().slice(0, 16), 2],
    ]);
  });
});
