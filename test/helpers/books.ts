/** A gateway whose store has budgets and limits, and what its store says afterwards. */
import { Database } from "bun:sqlite";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import type { Budget, RateLimit } from "../../src/ledger/policy.ts";
import { type RunningGateway, startGateway } from "./gateway.ts";

const ACTOR = { actor: "test" };

export interface BookedGateway extends RunningGateway {
  /** Path of its store. */
  store: string;
  /** Stops it, and then reads the store. */
  finish(): Promise<Booked>;
}

export interface Booked {
  /** What was spent of each account, with what was assumed. Nano-dollars. */
  spent: Map<string, number>;
  calls: BookedCall[];
}

export interface BookedCall {
  status: number;
  /** Index of the reason of a refusal; 0 if there was none. */
  refused: number;
  tries: number;
  input: number;
  output: number;
  cost: number;
  /** Index of the state of the charge. */
  state: number;
}

export async function startBooked(
  config: Record<string, unknown>,
  budgets: readonly Budget[] = [],
  rates: readonly RateLimit[] = [],
): Promise<BookedGateway> {
  const state = await mkdtemp(join(tmpdir(), "weir-books-"));
  const path = join(state, "weir.db");
  const store = sqliteStore(path);
  await store.open();
  for (const budget of budgets) await store.saveBudget({ ...budget, source: "store" }, ACTOR);
  for (const rate of rates) await store.saveRate({ ...rate, source: "store" }, ACTOR);
  await store.close();
  const gateway = await startGateway({ config: { state, log: { format: "json" }, ...config } });
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await gateway.stop();
  };
  return {
    ...gateway,
    store: path,
    async finish() {
      await stop();
      return readBooks(path);
    },
    async stop() {
      await stop();
      await rm(state, { recursive: true, force: true });
    },
  };
}

function readBooks(path: string): Booked {
  const db = new Database(path, { readonly: true });
  const accounts = db
    .query<{ account: string; spent: number; assumed: number }, []>("SELECT * FROM accounts")
    .all();
  const calls = db.query<BookedCall, []>("SELECT * FROM calls ORDER BY number").all();
  db.close();
  return { spent: new Map(accounts.map(({ account, spent, assumed }) => [account, spent + assumed])), calls };
}
