/**
 * A hard budget that does not suffice for a batch whose lines run until it is used up: in gateways of two workers, and exact to the
 * nano-dollar by what the provider answered.
 */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import OpenAI from "openai";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(180_000);

const LINES = 200;
/** Nano-dollars of a line: by its call, and by 3 tokens in and 5 out at 1 and 2 dollars a million. */
const COSTS = { flat: 1_000_001, tokens: 13_000 } as const;
const KEYS = { flat: "weir-key-of-quota-f-1234567", tokens: "weir-key-of-quota-t-1234567" } as const;
const endpoint = "/v1/chat/completions";
type Model = keyof typeof COSTS;

let weir: RunningBooks;
let upstream: Upstream;
const answered = { flat: 0, tokens: 0 };
let delay = 5;

beforeAll(async () => {
  upstream = startUpstream(async ({ body }) => {
    const { model } = JSON.parse(body.toString()) as { model: Model };
    await Bun.sleep(Math.random() * 2 * delay);
    answered[model]++;
    return json({
      ...{ id: "c_1", object: "chat.completion", created: 1, model },
      choices: [{ index: 0, message: { role: "assistant", content: "So." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
    });
  });
  weir = await startBooks({
    workers: 2,
    config: {
      providers: {
        p: {
          ...{ speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1" },
          models: ["flat", "tokens"],
        },
      },
      prices: {
        "p/flat": { input: 0, output: 0, request: COSTS.flat / 1e9 },
        "p/tokens": { input: 1, output: 2 },
      },
      keys: Object.entries(KEYS).map(([name, key]) => ({ name, key, path: `/${name}` })),
      batches: { admit: "lines", concurrency: 8, yield: false },
    },
  });
});
afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

const clientOf = (model: Model) =>
  new OpenAI({ baseURL: `${weir.url}/v1`, apiKey: KEYS[model], maxRetries: 0 });

/** @param limit of a new hard budget for the key of the model, in nano-dollars @returns its id */
async function limited(model: Model, limit: number): Promise<string> {
  const body = { name: model, on: { kind: "path", what: `/${model}` }, window: "total", limit, mode: "hard" };
  return (await weir.api.send<{ id: string }>("POST", "/budgets", { body })).id;
}

async function made(model: Model): Promise<string> {
  const texts = Array.from({ length: LINES }, (_, at) =>
    JSON.stringify({
      ...{ custom_id: `l${at}`, method: "POST", url: endpoint },
      body: { model: `p/${model}`, max_tokens: 5, messages: [{ role: "user", content: "x" }] },
    }),
  );
  const client = clientOf(model);
  const file = await client.files.create({
    file: new File([texts.join("\n")], "in.jsonl"),
    purpose: "batch",
  });
  const { id } = await client.batches.create({ input_file_id: file.id, endpoint, completion_window: "24h" });
  return id;
}

async function ended(model: Model, id: string): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await clientOf(model).batches.retrieve(id);
    if (batch.status === "completed") return batch;
    await Bun.sleep(50);
  }
}

/** Each line is an answer, which is booked, or `insufficient_quota`, which costs nothing. @param from answers before the batch */
async function assertWhole(model: Model, batch: OpenAI.Batch, limit: number, from = 0): Promise<void> {
  const done = answered[model] - from;
  const { total, completed, failed } = batch.request_counts!;
  expect([total, completed, failed]).toEqual([LINES, done, LINES - done]);
  expect(done * COSTS[model]).toBeLessThanOrEqual(limit);
  const text = await (await clientOf(model).files.content(batch.error_file_id!)).text();
  const errors = text.trimEnd().split("\n");
  expect(errors.length).toBe(failed);
  for (const line of errors)
    expect(JSON.parse(line)).toMatchObject({ response: null, error: { code: "insufficient_quota" } });
  const windows = async () => (await weir.budget(model)).windows[0];
  const spent = answered[model] * COSTS[model];
  for (const end = Date.now() + 20_000; ; await Bun.sleep(100)) {
    const window = await windows();
    if (window?.spent === spent && window.held === 0) break;
    expect([Date.now() < end, window]).toEqual([true, window]);
  }
  expect(await windows()).toMatchObject({ spent, assumed: 0, held: 0 });
  const database = new Database(join(weir.state, "weir.db"), { readonly: true });
  const rows = database
    .query<{ status: number; count: number; cost: number }, [string]>(
      "SELECT status, COUNT(*) AS count, SUM(cost) AS cost FROM calls WHERE json_extract(detail, '$.batch') = ? AND cost > 0 GROUP BY status",
    )
    .all(batch.id.slice("batch_".length));
  database.close();
  expect(rows).toEqual(done === 0 ? [] : [{ status: 200, count: done, cost: done * COSTS[model] }]);
}

test("lines that hold what they cost: a budget for 60 % of them is used to the last nano-dollar", async () => {
  const limit = 0.6 * LINES * COSTS.flat;
  await limited("flat", limit);
  const batch = await ended("flat", await made("flat"));
  expect(answered.flat).toBe(0.6 * LINES);
  await assertWhole("flat", batch, limit);
});

test("lines that hold more than they cost, and a budget that is lowered while they run", async () => {
  const limit = Math.floor(0.6 * LINES * COSTS.tokens);
  const id = await limited("tokens", limit);
  const first = await ended("tokens", await made("tokens"));
  await assertWhole("tokens", first, limit);
  // What lines hold in the end is more than what is left.
  expect(answered.tokens).toBeGreaterThan(0.5 * LINES);
  const before = answered.tokens;
  const raised = limit + LINES * COSTS.tokens;
  await weir.api.send("PATCH", `/budgets/${id}`, { body: { limit: raised } });
  delay = 50;
  const second = await made("tokens");
  expect(await until(() => answered.tokens >= before + 20, 30_000)).toBe(true);
  const lowered = limit + 60 * COSTS.tokens;
  await weir.api.send("PATCH", `/budgets/${id}`, { body: { limit: lowered } });
  const batch = await ended("tokens", second);
  expect(answered.tokens * COSTS.tokens).toBeLessThanOrEqual(lowered);
  await assertWhole("tokens", batch, lowered, before);
  expect(batch.request_counts!.failed).toBeGreaterThan(0);
});

test("weir audit holds", () => {
  const { code, output } = weir.run("audit", "--json");
  expect([code, code === 0 ? "" : output]).toEqual([0, ""]);
});
