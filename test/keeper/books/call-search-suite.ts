/** Which calls a filter finds, and their order: the same with both databases, and in the stream of calls that end. */
import { expect, test } from "bun:test";
import { matches } from "../../../src/keeper/reports/matches.ts";
import { Reports } from "../../../src/keeper/reports/reports.ts";
import type { CallFilter, CallOrder } from "../../../src/keeper/reports/shapes.ts";
import type { SqlStore } from "../../../src/keeper/store/sql-store.ts";
import { sessionHash } from "../../../src/ledger/session-hash.ts";
import { attempt, batch, call, commit, NOW } from "./make.ts";

const usage = (input: number) => ({
  ...{ input, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0, known: "final" as const },
});
const costing = (cost: number, tokens: number, model = "echo") => [
  attempt({ model, usage: usage(tokens) }, { cost }),
];
/** Milliseconds before {@link NOW}, in the id. */
const idAt = (ago: number, rest: number) => {
  const bytes = new Uint8Array(18).fill(rest);
  new DataView(bytes.buffer).setUint32(2, (NOW - ago) % 2 ** 32);
  new DataView(bytes.buffer).setUint16(0, Math.floor((NOW - ago) / 2 ** 32));
  return `req_${bytes.toBase64({ alphabet: "base64url" })}`;
};

const CALLS = {
  cheap: call({
    ...{ id: idAt(9_000, 7), startedAt: NOW - 9_000, ms: 20, firstMs: 900, attempts: costing(5, 1_000) },
    session: sessionHash("key_a", "my session"),
  }),
  dear: call({
    ...{ id: idAt(8_000, 9), startedAt: NOW - 8_000, ms: 900, status: 503, outcome: "failed" },
    ...{ attempts: costing(900, 20, "mini"), upstreamId: "chatcmpl-7" },
  }),
  odd: call({ id: "mine-1", startedAt: NOW - 7_000, status: 429, attempts: [], model: "gone", key: "key_b" }),
};
type Name = keyof typeof CALLS;

const FILTERS: readonly (readonly [CallFilter, readonly Name[]])[] = [
  [{ status: [{ low: 500, high: 599 }] }, ["dear"]],
  [
    {
      status: [
        { low: 500, high: 599 },
        { low: 429, high: 429 },
      ],
    },
    ["odd", "dear"],
  ],
  [{ cost: { sign: ">", value: 5 } }, ["dear"]],
  [{ cost: { sign: ">=", value: 5 } }, ["dear", "cheap"]],
  [{ cost: { sign: "<", value: 5 } }, ["odd"]],
  [{ took: { sign: "<=", value: 20 } }, ["cheap"]],
  [{ tokens: { sign: ">", value: 1_000 } }, ["cheap"]],
  [{ session: "my session" }, ["cheap"]],
  [{ session: sessionHash("key_a", "my session") }, ["cheap"]],
  [{ session: "another" }, []],
  [{ text: { text: "my session", keys: [] } }, ["cheap"]],
  [{ text: { text: "chatcmpl-7", keys: [] } }, ["dear"]],
  [{ id: "chatcmpl-7" }, ["dear"]],
  [{ id: "mine" }, ["odd"]],
  [{ id: CALLS.cheap.id }, ["cheap"]],
  [{ id: CALLS.cheap.id.slice(0, 15) }, ["cheap"]],
  [{ id: CALLS.cheap.id.slice(0, 9) }, ["dear", "cheap"]],
  [{ text: { text: CALLS.dear.id.slice(0, 14), keys: [] } }, ["dear"]],
  [{ not: [{ model: ["mini"] }] }, ["odd", "cheap"]],
  [{ not: [{ key: "key_b" }, { status: [{ low: 503, high: 503 }] }] }, ["cheap"]],
  [{ not: [{ provider: "mock" }] }, ["odd"]],
  [{ path: "/eng", not: [{ tag: "nothing" }] }, ["odd", "dear", "cheap"]],
];

const ORDERS: readonly (readonly [CallOrder, readonly Name[]])[] = [
  ["cost", ["dear", "cheap", "odd"]],
  ["took", ["dear", "odd", "cheap"]],
  ["tokens", ["cheap", "dear", "odd"]],
  // Calls without a first event have no place in its order.
  ["first", ["cheap"]],
];

/** @param open an empty store */
export function describeCallSearch(open: () => Promise<SqlStore>): void {
  const names = Object.entries(CALLS).map(([name, { id }]) => [id, name] as const);
  const nameOf = (id: string) => new Map(names).get(id) ?? id;

  async function reportsOf(): Promise<Reports> {
    const store = await open();
    const records = Object.values({ ...CALLS, odd: { ...CALLS.odd, ms: 500 } });
    await store.commit(commit({ batches: [batch(1, records)] }));
    return new Reports(store.sql, store.sql, () => NOW);
  }

  test("S2, S14, S15: a search finds what a filter says, and its sums are of the same calls", async () => {
    const reports = await reportsOf();
    for (const [filter, wanted] of FILTERS) {
      const { calls } = await reports.calls({ limit: 9, ...filter });
      expect([filter, calls.map(({ id }) => nameOf(id))]).toEqual([filter, [...wanted]]);
      const sums = await reports.summary({ slices: 4, ...filter });
      expect([filter, sums.calls]).toEqual([filter, wanted.length]);
      const live = Object.values(CALLS).filter((one) => matches(one, filter));
      expect([filter, live.map(({ id }) => nameOf(id))]).toEqual([filter, wanted.toReversed()]);
    }
  });

  test("S14: calls in the order of a number have pages that together contain each once", async () => {
    const reports = await reportsOf();
    for (const [sort, wanted] of ORDERS) {
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await reports.calls({ limit: 1, sort, after });
        expect(page.bounded).toBe(false);
        found.push(...page.calls.map(({ id }) => nameOf(id)));
        after = page.next;
      } while (after !== undefined);
      expect([sort, found]).toEqual([sort, [...wanted]]);
    }
    const failed = await reports.calls({ limit: 9, sort: "cost", outcome: "failed", to: NOW });
    expect(failed.calls.map(({ id }) => nameOf(id))).toEqual(["dear"]);
  });
}
