/** PostgreSQL answers as SQLite does: every filter, their combinations, all orders, pages, sums and deployments. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CallFilter, CallOrder, CallQuery } from "../../src/keeper/reports/shapes.ts";
import { sessionHash } from "../../src/ledger/session-hash.ts";
import { missingPostgres, startPostgres, type TestPostgres } from "../helpers/postgres.ts";
import { NOW } from "../keeper/books/make.ts";
import { randomBy } from "../keeper/books/proof-world.ts";
import { KEYS, SESSIONS, type SameRows, sameRows } from "./same-rows.ts";

setDefaultTimeout(240_000);

const HOUR_MS = 3_600_000;
const ORDERS: readonly (CallOrder | undefined)[] = [undefined, "cost", "took", "first", "tokens"];
const SIGNS = ["<", "<=", ">", ">="] as const;
const CASES = 250;
/** Filters whose opposite the API takes. */
const OPPOSITES = ["key", "tag", "model", "client", "status", "outcome"];

/** Values of each filter. @param id of a call */
function filtersOf(id: string): Readonly<Record<string, readonly Partial<CallFilter>[]>> {
  const bounds = (value: number) => SIGNS.map((sign) => ({ sign, value }));
  const groups = ["429", "5xx", "broken", "credential", "request", "failed"] as const;
  return {
    tried: groups.flatMap((group) => [{ tried: { group } }, { tried: { group, at: "north-eu" } }]),
    session: [...SESSIONS, "none", sessionHash(KEYS[0]!, SESSIONS[0]!)].map((session) => ({ session })),
    text: [...SESSIONS, "chatcmpl-7", "name", "NORTH", "%", "_", id, id.slice(0, 12), "nothing"].map(
      (text) => ({
        text: { text, keys: text === "name" ? [KEYS[1]!] : [] },
      }),
    ),
    id: [id, id.slice(0, 9), "chatcmpl-12", "chatcmpl-%"].map((wanted) => ({ id: wanted })),
    outcome: [{ outcome: "complete" }, { outcome: "failed" }],
    status: [
      [{ low: 500, high: 599 }],
      [
        { low: 200, high: 200 },
        { low: 429, high: 429 },
      ],
    ].map((status) => ({ status })),
    cost: bounds(25_000).map((cost) => ({ cost })),
    took: bounds(4_000).map((took) => ({ took })),
    tokens: bounds(700).map((tokens) => ({ tokens })),
    slowerThan: [{ slowerThan: 8_000 }],
    failed: [{ failed: true }],
    retried: [{ retried: true }, { retried: false }],
    losses: [{ losses: true }, { losses: false }],
    state: [{ state: "uncertain" }, { state: "assumed" }, { state: "metered" }],
    refused: [{ refused: "any" }, { refused: "budget" }],
    asked: [{ asked: ["Name*"] }, { asked: ["name-1"] }, { asked: ["east/*"] }],
    model: [{ model: ["mini"] }, { model: ["Maxi*"] }, { model: ["mid_1", "name-1"] }],
    provider: [{ provider: "north" }, { deployment: "west-eu" }],
    key: [{ key: KEYS[0]! }, { key: "key_none" }],
    path: [{ path: "/team-1" }, { within: "/team-0" }],
    tag: [{ tag: "prod" }],
    format: [{ format: "messages" }],
    client: [{ client: "claude" }],
    columns: [{ columns: { upstreamId: "chatcmpl-7" } }],
    from: [{ from: NOW - 20 * HOUR_MS }],
    to: [{ to: NOW - 10 * HOUR_MS }],
  };
}

describe.skipIf(missingPostgres !== undefined)(
  `the same answers (${missingPostgres ?? "PostgreSQL"})`,
  () => {
    let server: TestPostgres;
    let rows: SameRows;
    let filters: ReturnType<typeof filtersOf>;

    beforeAll(async () => {
      server = await startPostgres();
      rows = await sameRows(await server.createDatabase());
      filters = filtersOf(rows.calls[100]!.id);
    });

    afterAll(async () => {
      await rows?.close();
      await server?.stop();
    });

    /** The answers of both stores to one question. */
    const both = <Value>(ask: (reports: SameRows["reports"][number]) => Promise<Value>) =>
      Promise.all(rows.reports.map(ask)) as Promise<[Value, Value]>;

    /** All pages of a search. */
    async function compare(query: CallQuery): Promise<number> {
      let [found, after] = [0, undefined as string | undefined];
      do {
        const [sqlite, postgres] = await both((reports) => reports.calls({ ...query, after }));
        expect([query, postgres]).toEqual([query, sqlite]);
        found += sqlite.calls.length;
        after = sqlite.next;
      } while (after !== undefined);
      return found;
    }

    test("S3, S14, S15: each value of each filter finds the same calls in each order, and the same sums", async () => {
      const empty: string[] = [];
      for (const [name, values] of Object.entries(filters))
        for (const filter of values) {
          const counts = new Set<number>();
          for (const sort of ORDERS)
            if (sort !== "first") counts.add(await compare({ ...filter, limit: 500, sort }));
          await compare({ ...filter, limit: 500, sort: "first" });
          // All orders but that of the first event have every call.
          expect([filter, counts.size]).toEqual([filter, 1]);
          if (counts.has(0)) empty.push(name);
          const [sqlite, postgres] = await both((reports) => reports.summary({ ...filter, slices: 24 }));
          expect([filter, postgres]).toEqual([filter, sqlite]);
          expect([filter, [...counts]]).toEqual([filter, [sqlite.calls]]);
        }
      // A filter that finds nothing proves little.
      expect(empty.length).toBeLessThan(12);
    });

    test("S14: random combinations, opposites and pages find the same calls", async () => {
      const random = randomBy(23);
      const some = (names: readonly string[] = Object.keys(filters)) => {
        const values = filters[names[random(names.length)]!]!;
        return values[random(values.length)]!;
      };
      let found = 0;
      for (let count = 0; count < CASES; count++) {
        const not = random(3) === 0 ? [some(OPPOSITES)] : undefined;
        const filter = { ...some(), ...(random(2) === 0 && some()), ...(not && { not }) };
        const sort = ORDERS[random(ORDERS.length)];
        const query = { ...filter, sort, limit: 40 + random(200) };
        found += await compare(query).catch((cause: unknown) => {
          throw new Error(JSON.stringify(query), { cause });
        });
      }
      expect(found).toBeGreaterThan(20 * CASES);
    });

    test("S12, S13: usage by every group, deployments and names are the same", async () => {
      const groups = ["hour", "day", "key", "path", "tag", "provider", "model"] as const;
      const inOrder = (list: readonly unknown[]) => list.map((row) => JSON.stringify(row)).sort();
      for (const group of groups)
        for (const more of [[], ["model"] as const]) {
          const by = [...new Set([group, ...more])];
          const [sqlite, postgres] = await both((reports) => reports.usage({ by, from: NOW - 40 * HOUR_MS }));
          expect([by, inOrder(postgres.rows)]).toEqual([by, inOrder(sqlite.rows)]);
          expect(postgres.total).toEqual(sqlite.total);
        }
      for (const from of [NOW - HOUR_MS, NOW - 50 * HOUR_MS]) {
        const [sqlite, postgres] = await both((reports) =>
          reports.deployments({ from, to: NOW, slices: 12, within: "/" }),
        );
        expect(postgres).toEqual(sqlite);
      }
      const [sqlite, postgres] = await both((reports) => reports.names("/"));
      expect(postgres).toEqual(sqlite);
    });
  },
);
