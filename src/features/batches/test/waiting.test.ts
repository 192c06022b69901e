/** Batches that wait together: what they may need of a hard budget is reserved, and their tokens are counted by key. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { MemoryFiles } from "./memory-files.ts";

setDefaultTimeout(60_000);

const KEYS = {
  a: "weir-key-of-waiting-a-1234567",
  b: "weir-key-of-waiting-b-1234567",
  long: "weir-key-of-waiting-l-1234567",
  more: "weir-key-of-waiting-m-1234567",
};
const files = new MemoryFiles();
/** Lines wait at the provider until it is opened. */
let gate = Promise.withResolvers<void>();
let answered = 0;
const upstream = startUpstream(async () => {
  await gate.promise;
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
    // A line of 1,000 tokens of output may cost a dollar, and costs 5 thousandths of it.
    prices: { "p/m": { input: 0, output: 1_000 } },
    keys: [
      { name: "a", key: KEYS.a, path: "/eng/a" },
      { name: "b", key: KEYS.b, path: "/eng/b" },
      { name: "long", key: KEYS.long, path: "/long" },
      { name: "more", key: KEYS.more, path: "/more" },
    ],
    budgets: { eng: { every: "total", mode: "hard", on: { path: "/eng" }, limit: 10 } },
    batches: { concurrency: 1, yield: false, limits: { queuedTokens: "3000" } },
    log: { format: "json" },
  },
  features: [files.feature],
});
await gateway.opened();
afterAll(async () => {
  gate.resolve();
  await gateway.stop();
  upstream.stop();
});

const endpoint = "/v1/chat/completions";
const openaiOf = (apiKey: string) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });

async function made(apiKey: string, count: number, content = "x"): Promise<OpenAI.Batch> {
  const { id } = await files.input(
    Array.from({ length: count }, (_, at) => ({
      ...{ custom_id: `l${at}`, method: "POST", url: endpoint },
      body: { model: "p/m", max_tokens: 1_000, messages: [{ role: "user", content }] },
    })),
  );
  return openaiOf(apiKey).batches.create({ input_file_id: id, endpoint, completion_window: "24h" });
}

async function ended(apiKey: string, { id }: OpenAI.Batch): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await openaiOf(apiKey).batches.retrieve(id);
    if (["completed", "failed"].includes(batch.status)) return batch;
    await Bun.sleep(20);
  }
}

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable("the batch was made"),
    (thrown: unknown) => thrown as { status: number; message: string; code?: string },
  );

test("of two batches that fit a hard budget alone, and not together, the second is refused, also of another key", async () => {
  const first = await made(KEYS.a, 6);
  expect(await errorOf(made(KEYS.b, 6))).toMatchObject({
    ...{ status: 429, code: "insufficient_quota" },
    message: expect.stringMatching(/may cost \$6\.00, and \$[34]\.00 of the budget are left/),
  });
  expect((await openaiOf(KEYS.b).batches.list()).data).toEqual([]);
  // What the first one leaves is there for others.
  const second = await made(KEYS.b, 3);
  gate.resolve();
  expect((await ended(KEYS.a, first)).request_counts).toEqual({ total: 6, completed: 6, failed: 0 });
  expect((await ended(KEYS.b, second)).request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
  // What has ended reserves nothing more: 9 lines have cost 4.5 cents.
  const third = await ended(KEYS.b, await made(KEYS.b, 9));
  expect(third.request_counts).toEqual({ total: 9, completed: 9, failed: 0 });
  expect(answered).toBe(18);
});

test("of 8 batches that are made at once only those are taken that fit together", async () => {
  gate = Promise.withResolvers();
  const tries = await Promise.allSettled(
    Array.from({ length: 8 }, (_, at) => made(at % 2 === 0 ? KEYS.a : KEYS.b, 3)),
  );
  const taken = tries.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  // A line that runs is held, and reserved until its batch tells that it has ended.
  expect([2, 3]).toContain(taken.length);
  gate.resolve();
  for (const batch of taken) {
    const { id } = batch;
    const key = await openaiOf(KEYS.a)
      .batches.retrieve(id)
      .then(
        () => KEYS.a,
        () => KEYS.b,
      );
    expect((await ended(key, batch)).request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
  }
});

/** About 1,300 tokens a line. */
const LONG = "word ".repeat(1_000);

test("a key's tokens that wait are limited: OpenAI's clients get a batch that has failed", async () => {
  gate = Promise.withResolvers();
  const first = await made(KEYS.long, 2, LONG);
  const second = await made(KEYS.long, 1, LONG);
  expect(second).toMatchObject({
    status: "failed",
    errors: {
      data: [
        {
          code: "token_limit_exceeded",
          message: expect.stringMatching(
            /about 1,2\d\d tokens, and 2,[5-9]\d\d of the key wait; its limit is 3,000/,
          ),
        },
      ],
    },
  });
  expect(second.failed_at).toBeGreaterThan(0);
  // Others have their own.
  const other = await made(KEYS.more, 2, LONG);
  expect(other.status).not.toBe("failed");
  gate.resolve();
  for (const [key, batch] of [
    [KEYS.long, first],
    [KEYS.more, other],
  ] as const)
    expect((await ended(key, batch)).request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
  expect((await ended(KEYS.long, await made(KEYS.long, 2, LONG))).status).toBe("completed");
});

test("Anthropic's clients get an error, and nothing of the body is kept", async () => {
  const kept = files.files.size;
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: KEYS.long, maxRetries: 0 });
  const requests = Array.from({ length: 3 }, (_, at) => ({
    custom_id: `a${at}`,
    params: { model: "p/m", max_tokens: 10, messages: [{ role: "user" as const, content: LONG }] },
  }));
  expect(await errorOf(anthropic.messages.batches.create({ requests }))).toMatchObject({
    status: 429,
    error: { type: "error", error: { type: "rate_limit_error", message: expect.stringContaining("3,000") } },
  });
  expect(files.files.size).toBe(kept);
});
