/** A hard budget that does not suffice for all lines of a batch at its provider. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { FakeOpenAI } from "./fake-openai.ts";
import { BatchClient, chatLine } from "./native-client.ts";

setDefaultTimeout(120_000);

const LINES = 40;
/** Nano-dollars: 30 tokens in and 50 out, at $1 and $2 a million, and half of it. */
const LINE = 65_000;
const KEY = "weir-key-of-batches-1234567";

const host = new FakeOpenAI();
const gateway = await startGateway({
  config: {
    providers: { p: { speaks: "chat-completions", baseUrl: host.url, apiKey: "k-1", models: ["m"] } },
    prices: { "p/m": { input: 1, output: 2 } },
    keys: [{ name: "eng", key: KEY, path: "/eng" }],
    budgets: {
      small: { on: { path: "/eng" }, limit: (0.6 * LINES * LINE) / 1e9, every: "total", mode: "hard" },
    },
    batches: { native: { p: { api: "openai" } }, poll: 1, admit: "lines" },
    log: { format: "json" },
  },
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  host.stop();
});

test("what the provider gets never costs more than the budget", async () => {
  const client = new BatchClient(gateway.url, KEY);
  const lines = Array.from({ length: LINES }, (_, at) =>
    chatLine(`l${at}`, "p/m", `line ${at}`, { max_tokens: 50 }),
  );
  const batch = await client.ended(await client.made(lines));
  expect(batch.status).toBe("completed");
  const { total, completed, failed } = batch.request_counts!;
  expect([total, completed! + failed!, host.billed.size]).toEqual([LINES, LINES, completed]);
  expect(completed * LINE).toBeLessThanOrEqual(0.6 * LINES * LINE);
  // Lines that did not fit went out behind those that gave back what they had held.
  expect(completed).toBeGreaterThan(0.4 * LINES);
  expect(host.batches.length).toBeGreaterThan(1);
  expect(host.called).toEqual([]);
  const refused = (await client.lines(batch)).filter(({ error }) => error);
  expect(refused).toHaveLength(failed!);
  for (const { response, error } of refused) {
    expect(response).toBeNull();
    expect(error).toMatchObject({ code: "insufficient_quota", message: expect.stringContaining("budget") });
  }
  const cost = Number(batch.weir.cost);
  expect(Math.round(cost * 1e9)).toBe(completed * LINE);
});
