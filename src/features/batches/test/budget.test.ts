/** A hard budget that does not suffice for a batch: what the provider did never costs more, and the other lines say why. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { MemoryFiles } from "./memory-files.ts";

setDefaultTimeout(60_000);

const LINES = 50;
/** Dollars: 3 tokens in and 5 out, at 1 and 2 dollars a million. */
const LINE = 13e-6;
const KEY = "weir-key-of-batches-1234567";

const files = new MemoryFiles();
let answered = 0;
const upstream = startUpstream(async () => {
  await Bun.sleep(20);
  answered++;
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: "So." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
const gateway = await startGateway({
  config: {
    providers: {
      p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
    },
    prices: { "p/m": { input: 1, output: 2 } },
    keys: [{ name: "eng", key: KEY, path: "/eng" }],
    budgets: { small: { on: { path: "/eng" }, limit: 0.6 * LINES * LINE, every: "total", mode: "hard" } },
    batches: { admit: "lines" },
    log: { format: "json" },
  },
  features: [files.feature],
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

test("a budget for 60 % of the lines", async () => {
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
  const { id } = await files.input(
    Array.from({ length: LINES }, (_, at) => ({
      ...{ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions" },
      body: { model: "p/m", max_tokens: 5, messages: [{ role: "user", content: "x" }] },
    })),
  );
  let batch = await openai.batches.create({
    ...{ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  while (batch.status !== "completed") {
    await Bun.sleep(50);
    batch = await openai.batches.retrieve(batch.id);
  }
  const { total, completed, failed } = batch.request_counts!;
  expect([total, completed]).toEqual([LINES, answered]);
  expect(answered * LINE).toBeLessThanOrEqual(0.6 * LINES * LINE);
  // What a line holds is more than what it costs, so that the last ones may not fit.
  expect(answered).toBeGreaterThanOrEqual(20);
  const errors = files.lines(batch.error_file_id!);
  expect(errors.length).toBe(failed);
  for (const { response, error } of errors) {
    expect(response).toBeNull();
    expect(error).toMatchObject({ code: "insufficient_quota", message: expect.stringContaining("budget") });
  }
  expect((batch as unknown as { weir: { cost: string } }).weir.cost).toBe((answered * LINE).toFixed(6));
});
