/** Two gateways on machines of their own, with the books and the stored responses in one PostgreSQL. */
import { postgresStore } from "../../src/keeper/store/postgres/store.ts";
import type { SqlStore } from "../../src/keeper/store/sql-store.ts";
import { makeKeyText } from "../../src/ledger/keys/form.ts";
import type { Budget, RateLimit } from "../../src/ledger/policy.ts";
import { TARGET } from "../helpers/gateway.ts";
import { makeMachines } from "../helpers/namespaces.ts";
import type { TestPostgres } from "../helpers/postgres.ts";
import { serve, type Serving } from "../helpers/serving.ts";

const ACTOR = { actor: "test" };

/** Workers of each gateway. */
const WORKERS = 2;

export interface TwoNodes {
  gateways: readonly Serving[];
  /** Keys that admit calls of any model. */
  keys: readonly string[];
  /** As a reader of the database, which draws nothing. */
  store: SqlStore;
  end(): Promise<void>;
}

/** A provider that the gateways reach from their machines. */
export interface Provider {
  port: number;
  stop(): void | Promise<void>;
}

export interface TwoNodesOptions {
  budget?: Budget;
  rate?: RateLimit;
  /** Starts the provider `host`. @param hostname where it must listen */
  provider(hostname: string): Provider;
  prices?: Record<string, unknown>;
  /** Members of the config besides. */
  config?: Record<string, unknown>;
}

export const budgetOf = (limit: number): Budget => ({
  id: "bud_all",
  name: "everything",
  on: { kind: "all", what: "" },
  window: "total",
  zone: "UTC",
  limit,
  mode: "hard",
  onEmpty: "refuse",
  alerts: [],
  source: "store",
});

export async function startTwoNodes(
  server: TestPostgres,
  { budget, rate, provider, prices = {}, config = {} }: TwoNodesOptions,
): Promise<TwoNodes> {
  const database = await server.createDatabase();
  const store = postgresStore(database, { node: "test", queryMs: 30_000 });
  await store.open();
  const keys = [makeKeyText("call"), makeKeyText("call")];
  if (budget) await store.saveBudget(budget, ACTOR);
  if (rate) await store.saveRate(rate, ACTOR);
  const { machines, areSeparate, remove } = makeMachines(2);
  const host = provider(areSeparate ? "0.0.0.0" : "127.0.0.1");
  const gateways = await Promise.all(
    machines.map(({ address, test: here, command }) =>
      serve({
        config: JSON.stringify({
          host: address,
          state: "state",
          store: { url: database.replace("127.0.0.1", here) },
          cluster: true,
          keys: keys.map((key, at) => ({ name: `key${at}`, key })),
          providers: {
            host: { baseUrl: `http://${here}:${host.port}/v1`, speaks: "chat-completions", models: ["*"] },
          },
          prices,
          ...config,
        }),
        workers: WORKERS,
        binary: TARGET === "binary",
        parent: command,
      }),
    ),
  );
  return {
    gateways,
    keys,
    store,
    async end() {
      for (const gateway of gateways) await gateway.end();
      await store.close();
      await host.stop();
      remove();
    },
  };
}
