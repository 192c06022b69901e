/** A batch that its hard budget cannot pay is refused before a line runs, in the words of each client; a discount is exact. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { MemoryFiles } from "./memory-files.ts";

setDefaultTimeout(60_000);

/** Tokens and dollars a million tokens of the fake provider. */
const [INPUT, OUTPUT] = [3, 5];
const [IN_PRICE, OUT_PRICE] = [1, 2];
const DISCOUNT = 0.9;
/** Nano-dollars of a line, with the discount. */
const LINE = ((INPUT * IN_PRICE + OUTPUT * OUT_PRICE) * 1_000) / 10;

const KEYS = {
  poor: "weir-key-of-poor-1234567",
  rich: "weir-key-of-rich-1234567",
  none: "weir-key-of-none-1234567",
};
const files = new MemoryFiles();
let asked = 0;
const upstream = startUpstream(() => {
  asked++;
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: "So." }, finish_reason: "stop" }],
    usage: { prompt_tokens: INPUT, completion_tokens: OUTPUT, total_tokens: INPUT + OUTPUT },
  });
});
const hard = { every: "total", mode: "hard" };
const gateway = await startGateway({
  config: {
    providers: {
      p: {
        speaks: "chat-completions",
        baseUrl: `${upstream.url}/v1`,
        apiKey: "k-1",
        models: ["m", "unpriced"],
      },
    },
    prices: { "p/m": { input: IN_PRICE, output: OUT_PRICE } },
    keys: Object.entries(KEYS).map(([name, key]) => ({ name, key, path: `/${name}` })),
    budgets: {
      poor: { ...hard, on: { path: "/poor" }, limit: 0.001 },
      rich: { ...hard, on: { path: "/rich" }, limit: 0.01 },
    },
    batches: { discount: DISCOUNT },
    log: { format: "json" },
  },
  features: [files.feature],
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const openaiOf = (apiKey: string) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
const endpoint = "/v1/chat/completions";

const chat = (id: string, output: number, more: object = {}) => ({
  ...{ custom_id: id, method: "POST", url: endpoint },
  body: { model: "p/m", max_tokens: output, messages: [{ role: "user", content: "x" }], ...more },
});

async function made(apiKey: string, lines: readonly unknown[]): Promise<OpenAI.Batch> {
  const { id } = await files.input(lines);
  return openaiOf(apiKey).batches.create({ input_file_id: id, endpoint, completion_window: "24h" });
}

async function ended(apiKey: string, { id }: OpenAI.Batch): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await openaiOf(apiKey).batches.retrieve(id);
    if (["completed", "failed"].includes(batch.status)) return batch;
    await Bun.sleep(20);
  }
}

/** What a promise is rejected with. */
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable("the batch was made"),
    (thrown: unknown) => thrown as { status: number; message: string; error?: unknown; code?: string },
  );

const SUMS = /The batch may cost \$0\.\d+, and \$0\.001 of the budget are left/;
/** 10 lines of 1,000 tokens cost at least $0.002, with the discount. */
const dear = Array.from({ length: 10 }, (_, at) => chat(`l${at}`, 1_000));

test("OpenAI's clients get the error of a budget that is used up, with both sums", async () => {
  const error = await errorOf(made(KEYS.poor, dear));
  expect(error).toBeInstanceOf(OpenAI.RateLimitError);
  expect(error).toMatchObject({
    status: 429,
    code: "insufficient_quota",
    message: expect.stringMatching(SUMS),
  });
  expect((await openaiOf(KEYS.poor).batches.list()).data).toEqual([]);
});

test("Anthropic's and Google's clients get it in their envelopes, and nothing of the input is kept", async () => {
  const kept = files.files.size;
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: KEYS.poor, maxRetries: 0 });
  const requests = Array.from({ length: 10 }, (_, at) => ({
    custom_id: `a${at}`,
    params: { model: "p/m", max_tokens: 1_000, messages: [{ role: "user" as const, content: "x" }] },
  }));
  const told = await errorOf(anthropic.messages.batches.create({ requests }));
  expect(told).toMatchObject({
    status: 429,
    error: { type: "error", error: { message: expect.stringMatching(SUMS) } },
  });
  const google = new GoogleGenAI({ apiKey: KEYS.poor, httpOptions: { baseUrl: gateway.url } });
  const contents = [{ role: "user", parts: [{ text: "x" }] }];
  const src = requests.map(() => ({ contents, config: { maxOutputTokens: 1_000 } }));
  const said = await errorOf(google.batches.create({ model: "p/m", src }));
  expect(said.status).toBe(429);
  expect(said.message).toContain("RESOURCE_EXHAUSTED");
  expect(said.message).toMatch(SUMS);
  expect(files.files.size).toBe(kept);
  expect(asked).toBe(0);
});

test("an input that is added up after the answer fails as a whole, with both sums", async () => {
  const text = "word ".repeat(500_000);
  const batch = await made(KEYS.poor, [
    chat("a", 9, { messages: [{ role: "user", content: text }] }),
    chat("b", 9, { messages: [{ role: "user", content: text }] }),
  ]);
  expect(batch.status).toBe("validating");
  const { status, errors } = await ended(KEYS.poor, batch);
  expect(status).toBe("failed");
  expect(errors!.data).toEqual([
    { code: "insufficient_quota", line: null, message: expect.stringMatching(SUMS), param: null } as never,
  ]);
  expect(asked).toBe(0);
});

test("the discount of 40 lines is exact, and so is what the budget counts", async () => {
  const lines = Array.from({ length: 40 }, (_, at) => chat(`l${at}`, 9));
  const batch = await ended(KEYS.rich, await made(KEYS.rich, lines));
  expect(batch.request_counts).toEqual({ total: 40, completed: 40, failed: 0 });
  const { cost } = (batch as unknown as { weir: { cost: string } }).weir;
  expect(Number(cost)).toBeCloseTo((40 * LINE) / 1e9, 12);
  const key = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${KEYS.rich}` } });
  const { budgets } = (await key.json()) as { budgets: { name: string; spent: number; left: number }[] };
  expect(budgets).toMatchObject([{ name: "rich", spent: (40 * LINE) / 1e9, left: 0.01 - (40 * LINE) / 1e9 }]);
});

test("a line without a price is refused under a hard budget, and costs nothing without one", async () => {
  const before = asked;
  const batch = await ended(KEYS.rich, await made(KEYS.rich, [chat("a", 9, { model: "p/unpriced" })]));
  expect(batch.request_counts).toEqual({ total: 1, completed: 0, failed: 1 });
  expect(files.lines(batch.error_file_id!)).toMatchObject([
    { response: { status_code: 403, body: { error: { code: "price_unknown" } } }, error: null },
  ]);
  expect(asked).toBe(before);
  const free = await ended(KEYS.none, await made(KEYS.none, [chat("a", 9, { model: "p/unpriced" })]));
  expect(free.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
});

test("lines that would be refused anyway do not count", async () => {
  const lines = [
    chat("a", 9),
    ...Array.from({ length: 9 }, (_, at) => chat(`n${at}`, 9_000, { model: "q/none" })),
  ];
  const batch = await ended(KEYS.poor, await made(KEYS.poor, lines));
  expect(batch.request_counts).toEqual({ total: 10, completed: 1, failed: 9 });
});
