/** Calls that end in every way: each has one record, and all sums agree to the nano-dollar. */
import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { startBooked } from "../helpers/books.ts";
import { budget } from "../helpers/ledger.ts";
import { IS_STRESS } from "../helpers/effort.ts";

/** Ten thousand in `bun run stress`. */
const CALLS = IS_STRESS ? 10_000 : 1_000;
const AT_ONCE = 64;
/** Models of the mock that answer, fail before the first byte, and fail in the middle. */
const MODELS = [
  "chat",
  "reason",
  "tools",
  "empty",
  "error-500",
  "error-400",
  "rate-limited-1",
  "context-length",
  "content-filter",
  "cut-after-3",
  "overloaded-mid-stream",
  "throw",
  "no-such-model",
];

interface Sums {
  calls: number;
  cost: number;
  output: number;
}

test(`${CALLS} calls with mixed endings have one record each, and records, roll-ups and budgets agree`, async () => {
  const gateway = await startBooked(
    {
      prices: { "mock/*": { input: 1, output: 2 } },
      retries: { attempts: 2 },
      routes: { spread: ["mock/error-503", { model: "mock/chat", priority: 1 }] },
    },
    [
      budget("all", 1000 * DOLLAR),
      budget("small", DOLLAR / 100, { on: { kind: "model", what: "mock/tools" } }),
    ],
  );
  let sent = 0;
  const call = async (number: number) => {
    const isSpread = number % 17 === 0;
    const controller = new AbortController();
    const isMessages = number % 3 === 0;
    const answer = fetch(`${gateway.url}/v1/${isMessages ? "messages" : "chat/completions"}`, {
      method: "POST",
      signal: controller.signal,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: isSpread ? "spread" : `mock/${MODELS[number % MODELS.length]!}`,
        stream: number % 2 === 0,
        max_tokens: 200,
        messages: number % 97 === 0 ? [] : [{ role: "user", content: `call ${number}` }],
      }),
    });
    sent++;
    try {
      const response = await answer;
      if (number % 11 === 0) await response.body?.cancel();
      else await response.text();
    } catch {
      // A failed stream ends with its connection.
    }
  };
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < CALLS) await call(next++);
    }),
  );
  const { spent } = await gateway.finish();
  const db = new Database(gateway.store, { readonly: true });
  const sum = (table: string, count: string) =>
    db.query<Sums, []>(`SELECT ${count} calls, sum(cost) cost, sum(output) output FROM ${table}`).get()!;
  const rows = sum("calls", "count(*)");
  const ids = db.query<{ ids: number }, []>("SELECT count(DISTINCT request) ids FROM calls").get()!;
  const held = db
    .query<{ granted: number }, []>("SELECT coalesce(sum(granted), 0) granted FROM accounts")
    .get()!;
  expect(sent).toBe(CALLS);
  expect([rows.calls, ids.ids]).toEqual([CALLS, CALLS]);
  for (const table of ["use_hour", "use_day"]) expect(sum(table, "sum(calls)")).toEqual(rows);
  expect(spent.get(budgetAccount("all", 0))).toBe(rows.cost);
  expect(spent.get(budgetAccount("small", 0))!).toBeLessThanOrEqual(DOLLAR / 100);
  expect(held.granted).toBe(0);
  db.close();
  await gateway.stop();
}, 240_000);
