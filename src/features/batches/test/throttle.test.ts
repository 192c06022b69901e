/** Lines of batches beside calls of clients at a provider that limits both: through a gateway, by OpenAI's SDK. */
import { afterAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(120_000);

/** When the provider answers again, and its answer until then. Monotonic milliseconds. */
let closed = { until: 0, retryAfter: 1 };
/** Texts that it refuses always. */
const refused = new Set<string>();
let asked: { readonly text: string; readonly at: number }[] = [];
const paid = new Map<string, number>();

const busy = () =>
  json({ error: { message: "Too fast.", type: "rate_limit_error" } }, 429, {
    "retry-after": String(closed.retryAfter),
  });
const upstream = startUpstream(async ({ body }) => {
  const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] };
  const text = messages.at(-1)!.content;
  const at = performance.now();
  asked.push({ text, at });
  if (at < closed.until || refused.has(text)) return busy();
  await Bun.sleep(50);
  paid.set(text, (paid.get(text) ?? 0) + 1);
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: "So." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
const provider = (more: object = {}) => ({
  ...{ speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
  ...more,
});
const gateway = await startGateway({
  config: {
    providers: { p: provider(), narrow: provider({ concurrency: 4 }) },
    // One try of a line: a wait that the provider asks for is no try.
    batches: { retries: 0, how: "run" },
    ...{ retries: { attempts: 1 }, log: { format: "json" } },
  },
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});
beforeEach(() => {
  closed = { until: 0, retryAfter: 1 };
  asked = [];
  refused.clear();
  paid.clear();
});

const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });

async function made(lines: number, model = "p/m"): Promise<string> {
  const texts = Array.from({ length: lines }, (_, at) => {
    const body = { model, messages: [{ role: "user", content: `line ${at}` }] };
    return JSON.stringify({ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions", body });
  });
  const file = await client.files.create({
    file: new File([texts.join("\n")], "in.jsonl"),
    purpose: "batch",
  });
  const { id } = await client.batches.create({
    ...{ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  return id;
}

async function ended(id: string): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await client.batches.retrieve(id);
    if (["completed", "failed", "cancelled", "expired"].includes(batch.status)) return batch;
    await Bun.sleep(50);
  }
}

const ask = (content: string, model = "p/m") =>
  client.chat.completions.create({ model, messages: [{ role: "user", content }] });

test("a provider that wants no calls for some seconds gets few, and no line is lost", async () => {
  const id = await made(80);
  expect(await until(() => asked.length >= 20, 60_000)).toBe(true);
  closed = { until: performance.now() + 4_500, retryAfter: 1 };
  const before = asked.length;
  const batch = await ended(id);
  expect(batch).toMatchObject({
    status: "completed",
    request_counts: { total: 80, completed: 80, failed: 0 },
  });
  const during = asked.filter(({ at }, number) => number >= before && at < closed.until).length;
  // Those on their way, and then at each of four times half as many as the time before.
  expect(during).toBeGreaterThan(0);
  expect(during).toBeLessThanOrEqual(2 * 16 + 4);
  expect([paid.size, Math.max(...paid.values())]).toEqual([80, 1]);
});

test("a Retry-After that a client's call gets holds lines too", async () => {
  const id = await made(150);
  expect(await until(() => asked.length >= 20, 60_000)).toBe(true);
  refused.add("of a client");
  closed = { until: 0, retryAfter: 3 };
  const thrown = await ask("of a client").catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(OpenAI.RateLimitError);
  const refusedAt = performance.now();
  await ended(id);
  // Lines that were on their way when the client's call ended have come.
  const held = asked.filter(({ at }) => at > refusedAt + 1_000 && at < refusedAt + 2_500);
  expect(held).toEqual([]);
  expect(asked.some(({ at }) => at > refusedAt + 2_500)).toBe(true);
  expect([paid.size, Math.max(...paid.values())]).toEqual([150, 1]);
});

test("lines leave room in a concurrency limit, and none fails at it", async () => {
  const id = await made(60, "narrow/m");
  let calls = 0;
  let isRunning = true;
  const end = ended(id).finally(() => (isRunning = false));
  expect(await until(() => asked.length > 0, 60_000)).toBe(true);
  for (; isRunning; calls++) await ask("of a client", "narrow/m");
  expect(await end).toMatchObject({ request_counts: { total: 60, completed: 60, failed: 0 } });
  expect(calls).toBeGreaterThan(5);
});
