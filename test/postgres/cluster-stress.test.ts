/**
 * One hard budget over two gateways on one PostgreSQL: calls, streams, aborted streams, retries and fallbacks, while workers and
 * keepers are killed and the server is stopped in the middle. `bun run postgres` runs it for 40 s and stops the server for 20 s.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { auditBooks } from "../../src/keeper/reports/audit.ts";
import type { SqlStore } from "../../src/keeper/store/sql-store.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import {
  call,
  callUntilDecided,
  COST,
  countOf,
  killEach,
  load,
  servingWorker,
  type Outcome,
  RESULTS,
  Sampler,
  startProvider,
} from "../books/stress.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { until } from "../helpers/serving.ts";
import { budgetOf, startTwoNodes } from "./two-nodes.ts";

setDefaultTimeout(120_000);

const IS_LONG = process.env["LONG_POSTGRES"] === "1";
const LOAD_MS = IS_LONG ? 40_000 : 7_000;
const AWAY_MS = IS_LONG ? 20_000 : 2_000;

/** More than a call of the load holds: the estimate of its few bytes, and 500 tokens of output. Nano-dollars. */
const NEED = 2_500_000;
const STEADY = { model: "host/steady", stream: false, abort: false };

/** The budget as the database has it. What is held is part of what is granted. */
async function read(store: SqlStore) {
  const [row] = await store.sql.all<Record<"spent" | "assumed" | "overrun" | "granted", number>>(
    "SELECT spent, assumed, overrun, granted FROM accounts",
  );
  return row && { ...row, held: row.granted };
}

async function failedChecks(store: SqlStore): Promise<string[]> {
  const { checks } = await auditBooks(store.sql);
  return checks.flatMap(({ holds, name }) => (holds ? [] : [name]));
}

if (missingPostgres) test.skip(`a hard budget over two gateways: ${missingPostgres}`, () => {});
else
  describe("a hard budget over two gateways", async () => {
    const server = await startPostgres({ listen: "*" });
    afterAll(() => server.close());

    test("is never exceeded while workers and keepers are killed and PostgreSQL is away, and the books hold afterwards", async () => {
      const limit = Math.round((LOAD_MS / 1_000) * 0.1 * DOLLAR);
      const nodes = await startTwoNodes(server, {
        budget: budgetOf(limit),
        prices: { "host/*": { input: 1, output: 2 } },
        config: { fallbacks: { "host/dead": ["host/steady"] } },
        provider: startProvider,
      });
      const { gateways, keys, store } = nodes;
      const [key] = keys as [string];
      try {
        const sampler = new Sampler(() => read(store));
        let kills = 0;
        const pickWorker = gateways.map(servingWorker);
        const killer = killEach(1_000, () => {
          const weir = gateways[++kills % 2]!;
          if (kills % 5 === 0) return weir.keeper();
          return pickWorker[kills % 2]!();
        });
        const urls = gateways.map(({ url }) => url);
        const running = load({ urls, key, parallel: 40, calls: 200_000, ms: LOAD_MS });
        await Bun.sleep((LOAD_MS - AWAY_MS) / 2);
        await server.stop();
        await Bun.sleep(AWAY_MS);
        await server.start();
        const backAt = performance.now();
        const works = async () => (await call({ url: urls[0]! }, key, STEADY)).result !== "unavailable";
        expect(await until(works, 20_000)).toBe(true);
        const backMs = Math.round(performance.now() - backAt);
        const outcomes = await running;
        const killed = killer.stop();
        expect(killed).toBeGreaterThan(0);
        const areBack = () =>
          gateways.every((weir) => weir.workers().length === 2 && weir.keeper() !== undefined);
        expect(await until(areBack, 60_000)).toBe(true);

        const last: Outcome[] = [];
        for (const url of [...urls, ...urls])
          do last.push(await callUntilDecided({ url }, key, STEADY));
          while (last.at(-1)!.result === "answered");
        const samples = await sampler.stop();
        expect(last.at(-1)!.result).toBe("refused");
        const isAtRest = async () => (await read(store))?.granted === 0;
        expect(await until(isAtRest, 60_000)).toBe(true);
        const rest = (await read(store))!;
        const counts = RESULTS.map((result) => [result, countOf([...outcomes, ...last], result)]);
        console.log(
          `${killed} workers and keepers killed, PostgreSQL away for ${AWAY_MS} ms, back after ${backMs} ms; ${JSON.stringify(Object.fromEntries(counts))}; limit ${limit}, ${JSON.stringify(rest)}; ${samples.length} samples`,
        );
        const over = samples.filter(
          ({ spent, assumed, held, overrun }) => spent + assumed + held > limit + overrun,
        );
        expect([samples.length > 0, over]).toEqual([true, []]);
        // Every answer was paid for.
        const paid = countOf([...outcomes, ...last], "answered") * COST;
        expect(rest.spent + rest.assumed).toBeGreaterThanOrEqual(paid);
        // The last refusals at rest were right: what they needed was not left.
        expect(rest.spent + rest.assumed + NEED).toBeGreaterThan(limit);
        expect(await failedChecks(store)).toEqual([]);
        await store.sql.run(
          "UPDATE calls SET cost = cost + 1 WHERE number = (SELECT max(number) FROM calls WHERE cost > 0)",
        );
        expect((await failedChecks(store)).length).toBeGreaterThan(0);
      } finally {
        await nodes.end();
      }
    }, 300_000);
  });
