/**
 * Two gateways on machines of their own share the budgets and limits of one PostgreSQL. `bun run postgres` stops the server for
 * 20 s, else for 4 s.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { auditBooks } from "../../src/keeper/reports/audit.ts";
import type { SqlStore } from "../../src/keeper/store/sql-store.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import type { RateLimit } from "../../src/ledger/policy.ts";
import { missingPostgres, startPostgres, type TestPostgres } from "../helpers/postgres.ts";
import { until } from "../helpers/serving.ts";
import { budgetOf, startTwoNodes, type TwoNodes, type TwoNodesOptions } from "./two-nodes.ts";

setDefaultTimeout(120_000);

const CENT = DOLLAR / 100;
const IS_LONG = process.env["LONG_POSTGRES"] === "1";
const AWAY_MS = IS_LONG ? 20_000 : 4_000;

const ANSWER = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

interface Outcome {
  status: number;
  text: string;
  ms: number;
}

interface Cluster extends TwoNodes {
  /** Calls that have reached the provider. */
  readonly reached: number;
  call(gateway: number): Promise<Outcome>;
}

async function startCluster(
  server: TestPostgres,
  policy: Pick<TwoNodesOptions, "budget" | "rate">,
  delayMs = 20,
): Promise<Cluster> {
  let reached = 0;
  const nodes = await startTwoNodes(server, {
    ...policy,
    prices: { "host/*": { input: 0, output: 0, request: 0.01 } },
    provider(hostname) {
      const serving = Bun.serve({
        ...{ hostname, port: 0 },
        async fetch({ url }) {
          if (url.endsWith("/models")) return Response.json({ object: "list", data: [] });
          reached += 1;
          await Bun.sleep(delayMs);
          return Response.json(ANSWER);
        },
      });
      return { port: serving.port!, stop: () => serving.stop(true) };
    },
  });
  const { gateways, keys } = nodes;
  return {
    ...nodes,
    get reached() {
      return reached;
    },
    async call(gateway) {
      const began = performance.now();
      const response = await fetch(`${gateways[gateway]!.url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${keys[0]}`,
          connection: "close",
        },
        body: JSON.stringify({ model: "host/m", max_tokens: 5, messages: [{ role: "user", content: "hi" }] }),
      });
      return { status: response.status, text: await response.text(), ms: performance.now() - began };
    },
  };
}

async function spentOf(store: SqlStore): Promise<{ spent: number; granted: number }> {
  const [row] = await store.sql.all<{ spent: number; granted: number }>(
    "SELECT spent + assumed AS spent, granted FROM accounts",
  );
  return row ?? { spent: 0, granted: 0 };
}

if (missingPostgres) test.skip(`two gateways on PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("two gateways on PostgreSQL", async () => {
    const server = await startPostgres({ listen: "*" });
    afterAll(() => server.close());

    test("of 1,000 parallel calls on a hard budget for 100 exactly 100 are answered", async () => {
      const cluster = await startCluster(server, { budget: budgetOf(DOLLAR) });
      try {
        const began = performance.now();
        const outcomes = await Promise.all(Array.from({ length: 1_000 }, (_, n) => cluster.call(n % 2)));
        const count = (status: number) => outcomes.filter((outcome) => outcome.status === status).length;
        console.log(`1,000 calls took ${Math.round(performance.now() - began)} ms`);
        const others = outcomes.filter(({ status }) => status !== 200 && status !== 429);
        expect(others).toEqual([]);
        expect({ answered: count(200), refused: count(429), reached: cluster.reached }).toEqual({
          answered: 100,
          refused: 900,
          reached: 100,
        });
        expect(outcomes.find(({ status }) => status === 429)!.text).toContain("insufficient_quota");
        const isBooked = async () => (await spentOf(cluster.store)).spent === DOLLAR;
        expect(await until(isBooked, 20_000)).toBe(true);
        expect(await spentOf(cluster.store)).toEqual({ spent: DOLLAR, granted: 0 });
        const { checks } = await auditBooks(cluster.store.sql);
        expect(checks.filter(({ holds }) => !holds)).toEqual([]);
      } finally {
        await cluster.end();
      }
    });

    test("a server that is stopped in the middle never leads above the limit, and is used again within 2 s", async () => {
      const limit = 4 * DOLLAR;
      const cluster = await startCluster(server, { budget: budgetOf(limit) });
      try {
        let stopped = false;
        const statuses = new Map<number, number>();
        const okAt: number[] = [0, 0];
        const loop = async (gateway: number) => {
          while (!stopped) {
            const { status } = await cluster.call(gateway);
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            if (status === 200) okAt[gateway] = performance.now();
            else await Bun.sleep(50);
            expect(cluster.reached * CENT).toBeLessThanOrEqual(limit);
            await Bun.sleep(20);
          }
        };
        const loops = Array.from({ length: 8 }, (_, n) => loop(n % 2));
        await Bun.sleep(1_000);
        const before = cluster.reached;
        expect(before).toBeGreaterThan(0);
        await server.stop();
        await Bun.sleep(AWAY_MS);
        await server.start();
        const backAt = performance.now();
        const isBack = (gateway: number) => until(() => okAt[gateway]! > backAt, 20_000);
        expect(await Promise.all([isBack(0), isBack(1)])).toEqual([true, true]);
        const backMs = performance.now() - backAt;
        console.log(
          `back after ${Math.round(backMs)} ms; answers by status: ${JSON.stringify([...statuses])}`,
        );
        expect(backMs).toBeLessThan(20_000);
        expect(await until(() => cluster.reached * CENT === limit, 60_000)).toBe(true);
        await Bun.sleep(500);
        stopped = true;
        await Promise.all(loops);
        expect(cluster.reached).toBe(400);
        expect(await until(async () => (await spentOf(cluster.store)).spent === limit, 20_000)).toBe(true);
        const { checks } = await auditBooks(cluster.store.sql);
        expect(checks.filter(({ holds }) => !holds)).toEqual([]);
      } finally {
        await cluster.end();
      }
    });

    test("a frozen server does not hang a call", async () => {
      const cluster = await startCluster(server, { budget: budgetOf(100 * DOLLAR) });
      try {
        expect((await cluster.call(0)).status).toBe(200);
        server.freeze();
        const outcomes: Outcome[] = [];
        for (let n = 0; n < 40; n++) outcomes.push(await cluster.call(n % 2));
        server.thaw();
        const slowest = Math.max(...outcomes.map(({ ms }) => ms));
        console.log(`the slowest call took ${Math.round(slowest)} ms`);
        for (const { status } of outcomes) expect([200, 503]).toContain(status);
        // Ten times the promise, on a machine that does other things as well.
        expect(slowest).toBeLessThan(20_000);
        const works = async () =>
          (await cluster.call(0)).status === 200 && (await cluster.call(1)).status === 200;
        expect(await until(works, 20_000)).toBe(true);
      } finally {
        server.thaw();
        await cluster.end();
      }
    });

    test("a rate limit holds for both together, and follows the demand", async () => {
      const rate: RateLimit = {
        id: "rate_all",
        name: "everything",
        on: { kind: "all", what: "" },
        limits: { rpm: 600 },
        burst: { rpm: 20 },
        source: "store",
      };
      const cluster = await startCluster(server, { rate }, 1);
      try {
        const began = performance.now();
        let answered = 0;
        const hammer = async (gateway: number, ms: number) => {
          const until = performance.now() + ms;
          let own = 0;
          while (performance.now() < until) {
            const { status } = await cluster.call(gateway);
            if (status === 200) own += 1;
            else await Bun.sleep(10);
            answered = cluster.reached;
            expect(answered).toBeLessThanOrEqual(20 + ((performance.now() - began) / 1_000) * 10 + 1);
          }
          return own;
        };
        await Promise.all([hammer(0, 3_000), hammer(1, 3_000)]);
        // Only one node has demand now: it gets its part and that of the other within two seconds.
        await hammer(1, 3_000);
        const own = await hammer(1, 4_000);
        console.log(`alone the node answered ${own} calls in 4 s of 40`);
        expect(own).toBeGreaterThan(20);
      } finally {
        await cluster.end();
      }
    });
  });
