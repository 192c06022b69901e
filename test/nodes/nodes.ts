/** Several gateways on this machine, with one PostgreSQL and one provider. */
import { type RunningBooks, startBooks } from "../books/running.ts";
import { freePort } from "../helpers/serving.ts";
import type { Provider } from "./provider.ts";

export interface NodesOptions {
  /** URL of the database. */
  database: string;
  provider: Provider;
  count: number;
  /** Of each gateway. */
  workers: number;
  /** Members of the config besides. */
  config?: Record<string, unknown>;
  env?: Record<string, string>;
}

/** Starts the gateways at once, each with a state folder and an admin port of its own. */
export function startNodes({ database, provider, count, workers, config, env }: NodesOptions) {
  const start = () =>
    startBooks({
      workers,
      config: {
        store: { url: database },
        cluster: true,
        admin: { port: freePort() },
        log: { level: "warn" },
        providers: {
          host: { baseUrl: `${provider.url}/v1`, apiKey: "sk-x", speaks: "chat-completions", models: ["m"] },
        },
        prices: { "host/*": { input: 1, output: 2 } },
        ...config,
      },
      ...(env && { env }),
    });
  return Promise.all(Array.from({ length: count }, start));
}

/** Ends a gateway, also one that has followed the first. */
export async function endNode(node: RunningBooks): Promise<void> {
  await node.runBeside("stop", "--port", String(portOf(node)));
  await node.end();
}

export function portOf({ url }: { url: string }): number {
  return Number(new URL(url).port);
}
