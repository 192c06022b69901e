/**
 * A hard budget over the processes of a gateway, while workers and the keeper are killed. One request costs a cent. `bun run stress`
 * runs longer.
 */
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { TARGET } from "../helpers/gateway.ts";
import { serve, type Serving, until } from "../helpers/serving.ts";
import { budgetOf } from "./books/simulation.ts";
import { IS_STRESS } from "../helpers/effort.ts";

setDefaultTimeout(120_000);

const LONG_MS = 600_000;
const LOAD_MS = IS_STRESS ? 30_000 : 2_000;
const CENT = DOLLAR / 100;

/** A gateway under a hard budget for all calls. */
async function start(limit: number, workers: number): Promise<{ weir: Serving; state: string }> {
  const state = mkdtempSync(join(tmpdir(), "weir-processes-"));
  const store = sqliteStore(join(state, "weir.db"));
  await store.open();
  await store.saveBudget(budgetOf({ source: "store", limit }), { actor: "cli" });
  await store.close();
  const config = 'prices: {"mock/*": {input: 0, output: 0, request: 0.01}}\ngraceMs: 5000\n';
  const weir = await serve({ config, workers, binary: TARGET === "binary", env: { WEIR_STATE: state } });
  return { weir, state };
}

/** @returns the status, or 0 if the connection broke or nothing came within `ms` */
async function call(url: string, ms = 10_000): Promise<number> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      // A connection that a killed worker had not accepted may never end.
      signal: AbortSignal.timeout(ms),
      body: JSON.stringify({ model: "mock/chat", messages: [{ role: "user", content: "hello" }] }),
    });
    await response.text();
    return response.status;
  } catch {
    return 0;
  }
}

/** Repeats a call while the keeper does not answer in time, as on a machine that is busy. */
async function callUntilDecided(url: string): Promise<number> {
  for (;;) {
    const status = await call(url, LONG_MS);
    if (status !== 503) return status;
    await Bun.sleep(250);
  }
}

/** How many workers serve after a restart. */
const served = ({ log }: Serving) => log.filter((line) => line.includes("is serving")).length;

const count = (statuses: readonly number[], status: number) =>
  statuses.filter((one) => one === status).length;

/** What the store has after the gateway has ended in order. */
async function books({ weir, state }: { weir: Serving; state: string }) {
  weir.signal("SIGTERM");
  await weir.exited;
  const db = new Database(join(state, "weir.db"), { readonly: true });
  const read = (sql: string) => db.query<Record<string, number>, []>(sql).get();
  const found = {
    ...read("SELECT spent, assumed, granted FROM accounts"),
    ...read("SELECT count(*) AS drawn FROM grants WHERE amount <> 0"),
    ...read("SELECT count(*) AS answered, coalesce(sum(cost), 0) AS cost FROM calls WHERE status = 200"),
  } as Record<"spent" | "assumed" | "granted" | "drawn" | "answered" | "cost", number>;
  db.close();
  await weir.end();
  rmSync(state, { recursive: true, force: true });
  return found;
}

test(
  "of 1,000 parallel calls over four workers exactly those are answered that the budget has money for",
  async () => {
    const gateway = await start(100 * CENT, 4);
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, () => callUntilDecided(gateway.weir.url)),
    );
    expect([count(statuses, 200), count(statuses, 429)]).toEqual([100, 900]);
    expect(await books(gateway)).toEqual({
      ...{ spent: 100 * CENT, assumed: 0, granted: 0, drawn: 0 },
      ...{ answered: 100, cost: 100 * CENT },
    });
  },
  LONG_MS,
);

test.each(["worker", "keeper"] as const)(
  "while a %s is killed every second, the budget is not exceeded, and all answered calls are in the books",
  async (which) => {
    const limit = 100_000 * CENT;
    const gateway = await start(limit, 2);
    const { weir } = gateway;
    const statuses: number[] = [];
    let isOver = false;
    const loops = Array.from({ length: 8 }, async () => {
      while (!isOver) statuses.push(await call(weir.url));
    });
    let kills = 0;
    for (let ms = 0; ms < LOAD_MS; ms += 1_000) {
      await Bun.sleep(1_000);
      // On a busy machine a start takes longer.
      await until(() => which === "keeper" || served(weir) >= kills, LONG_MS);
      const pid = which === "keeper" ? weir.keeper() : weir.workers()[kills % 2];
      if (pid === undefined) continue;
      process.kill(pid, "SIGKILL");
      kills++;
    }
    isOver = true;
    await Promise.all(loops);
    expect(kills).toBeGreaterThan(0);
    expect(await until(() => weir.workers().length === 2 && weir.keeper() !== undefined, LONG_MS)).toBe(true);
    expect(await until(async () => (await call(weir.url)) === 200, LONG_MS)).toBe(true);
    // A keeper that is not ready yet would be killed at the end, and the next one would return what it had drawn.
    const isReady = async () => !(await (await fetch(`${weir.url}/health`)).text()).includes("degraded");
    expect(await until(isReady, LONG_MS)).toBe(true);
    await Bun.sleep(500);
    const after = await books(gateway);
    const answered = count(statuses, 200) + 1;
    expect([after.granted, after.drawn]).toEqual([0, 0]);
    expect(after.cost).toBe(after.spent);
    expect(after.spent + after.assumed).toBeLessThanOrEqual(limit);
    // A worker may be killed after the record of a call was written and before its client got the answer.
    expect(after.answered).toBeGreaterThanOrEqual(answered);
    if (which === "keeper") expect([after.answered, after.assumed]).toEqual([answered, 0]);
    console.log(
      `${kills} kills, ${answered} answered, ${after.answered} rows, ${after.assumed / CENT} assumed`,
    );
  },
  LONG_MS,
);
