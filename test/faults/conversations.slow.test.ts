/** Conversations over two workers and the keeper's process, under kill -9. */
import { expect, test } from "bun:test";
import { serve } from "../helpers/serving.ts";
import { runConversations, startRepeater } from "./conversations.ts";

const KEYS = ["wk-canary-one-0123456789abcdef", "wk-canary-two-0123456789abcdef"] as const;

test("with kill -9 of a worker and of the keeper no turn is lost, twice or torn", async () => {
  const upstream = startRepeater();
  const serving = await serve({
    config: JSON.stringify({
      providers: { host: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] } },
      keys: KEYS.map((key, index) => ({ name: `key${index}`, key })),
      responses: { store: "on" },
    }),
    env: { WEIR_STATE: "state" },
    workers: 2,
  });
  const kill = (pid: number | undefined) => pid !== undefined && process.kill(pid, "SIGKILL");
  try {
    const report = await runConversations({
      ...{ urls: [serving.url], keys: KEYS, conversations: 6, turns: 100 },
      faults: [
        { at: 0.2, strike: () => kill(serving.keeper()) },
        { at: 0.4, strike: () => kill(serving.workers()[0]) },
        { at: 0.6, strike: () => kill(serving.keeper()) },
        { at: 0.8, strike: () => kill(serving.keeper()) },
      ],
    });
    const { added, refused, unclear, struck, ...faults } = report;
    console.log(`${added} turns added, ${refused} refused, ${unclear} unclear`);
    expect(faults).toEqual({ lost: [], extra: [], twice: [], torn: [], foreign: 0 });
    expect(struck).toBe(4);
    expect(added).toBeGreaterThan(300);
  } finally {
    await serving.end();
    upstream.stop();
  }
}, 300_000);
