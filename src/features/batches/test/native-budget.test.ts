/** A hard budget that does not suffice for all lines of a batch at its provider. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { FakeOpenAI } from "./fake-openai.ts";
import { MemoryFiles } from "./memory-files.ts";

setDefaultTimeout(120_000);

const LINES = 40;
/** Nano-dollars: 30 tokens in and 50 out, at $1 and $2 a million, and half of it. */
const LINE = 65_000;
const KEY = "weir-key-of-batches-1234567";

const files = new MemoryFiles();
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
  features: [files.feature],
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  host.stop();
});

test("what the provider gets never costs more than the budget", async () => {
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
  const { id } = await files.input(
    Array.from({ length: LINES }, (_, at) => ({
      ...{ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions" },
      body: { model: "p/m", max_tokens: 50, messages: [{ role: "user", content: `line ${at}` }] },
    })),
    "batch",
  );
  let batch = await openai.batches.create({
    ...{ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  while (batch.status !== "completed") {
    await Bun.sleep(50);
    batch = await openai.batches.retrieve(batch.id);
  }
  const { total, completed, failed } = batch.request_counts!;
  expect([total, completed! + failed!, host.billed.size]).toEqual([LINES, LINES, completed]);
  expect(completed * LINE).toBeLessThanOrEqual(0.6 * LINES * LINE);
  // Lines that did not fit went out behind those that gave back what they had held.
  expect(completed).toBeGreaterThan(0.4 * LINES);
  expect(host.batches.length).toBeGreaterThan(1);
  expect(host.called).toEqual([]);
  for (const { response, error } of files.lines(batch.error_file_id!)) {
    expect(response).toBeNull();
    expect(error).toMatchObject({ code: "insufficient_quota", message: expect.stringContaining("budget") });
  }
  const cost = Number((batch as unknown as { weir: { cost: string } }).weir.cost);
  expect(Math.round(cost * 1e9)).toBe(completed * LINE);
});
