/** Batches by the SDKs of three vendors, run by weir line by line. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { MemoryFiles } from "./memory-files.ts";

setDefaultTimeout(60_000);

const files = new MemoryFiles();
/** Of each line: how often the provider was asked. */
const asked = new Map<string, number>();
let delay = 0;
const upstream = startUpstream(async ({ body }) => {
  const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] };
  const said = messages.at(-1)!.content;
  asked.set(said, (asked.get(said) ?? 0) + 1);
  await Bun.sleep(delay);
  if (said.startsWith("bad")) return json({ error: { message: "no", type: "invalid_request_error" } }, 400);
  if (said.startsWith("busy") && asked.get(said)! < 3)
    return json({ error: { message: "busy", type: "server_error" } }, 503);
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [
      { index: 0, message: { role: "assistant", content: `You said ${said}.` }, finish_reason: "stop" },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
const gateway = await startGateway({
  config: {
    providers: {
      p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
    },
    prices: { "p/m": { input: 1, output: 2 } },
    retries: { attempts: 1 },
    log: { format: "json" },
  },
  features: [files.feature],
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: "none", maxRetries: 0 });
const google = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: gateway.url } });

const chat = (id: string, content: string, more: object = {}) => ({
  ...{ custom_id: id, method: "POST", url: "/v1/chat/completions" },
  body: { model: "p/m", messages: [{ role: "user", content }], ...more },
});

async function ended(id: string): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await openai.batches.retrieve(id);
    if (["completed", "failed", "cancelled", "expired"].includes(batch.status)) return batch;
    await Bun.sleep(50);
  }
}

async function made(lines: readonly unknown[], more: Partial<OpenAI.BatchCreateParams> = {}) {
  const { id } = await files.input(lines);
  return openai.batches.create({
    ...{ input_file_id: `file-${id}`, endpoint: "/v1/chat/completions", completion_window: "24h" },
    ...more,
  });
}

test("a batch of OpenAI: made, run, read", async () => {
  const created = await made([chat("a", "one"), chat("b", "bad"), chat("c", "busy")], {
    metadata: { a: "b" },
  });
  expect(created).toMatchObject({ object: "batch", status: "validating", metadata: { a: "b" } });
  const batch = await ended(created.id);
  expect(batch).toMatchObject({
    status: "completed",
    request_counts: { total: 3, completed: 2, failed: 1 },
    usage: { input_tokens: 6, output_tokens: 10, total_tokens: 16 },
    weir: { how: "run", cost: "0.000026" },
  });
  const out = files.lines(batch.output_file_id!);
  expect(out.map(({ custom_id }) => custom_id)).toEqual(["a", "c"]);
  expect(out[0]).toMatchObject({
    response: { status_code: 200, body: { choices: [{ message: { content: "You said one." } }] } },
    error: null,
  });
  expect(files.lines(batch.error_file_id!)).toMatchObject([
    { custom_id: "b", response: { status_code: 400, body: { error: { message: "no" } } }, error: null },
  ]);
  expect([asked.get("one"), asked.get("bad"), asked.get("busy")]).toEqual([1, 1, 3]);
  const listed = await openai.batches.list({ limit: 1 });
  expect(listed.data.map(({ id }) => id)).toEqual([created.id]);
  expect(files.files.get(created.input_file_id.slice(5))!.holders.size).toBe(0);
});

test("input that is wrong is refused with all faults", async () => {
  const created = await made([chat("a", "x"), chat("a", "y"), { ...chat("b", "z"), method: "GET" }]);
  const batch = await ended(created.id);
  expect(batch.status).toBe("failed");
  expect(batch.errors!.data!.map(({ code, line }) => [code, line])).toEqual([
    ["duplicate_custom_id", 2],
    ["invalid_method", 3],
  ]);
});

test("what cannot be made is an error of its dialect", async () => {
  const wrong = (params: object) =>
    made([chat("a", "x")], params).catch((error: unknown) => error as InstanceType<typeof OpenAI.APIError>);
  expect(await wrong({ endpoint: "/v1/audio/speech" })).toMatchObject({ status: 400, param: "endpoint" });
  expect(await wrong({ completion_window: "25h" })).toMatchObject({
    status: 400,
    param: "completion_window",
  });
  expect(await wrong({ input_file_id: "file-1" })).toMatchObject({ status: 404, param: "input_file_id" });
  expect(await openai.batches.retrieve("batch_1").catch((error: unknown) => error)).toMatchObject({
    status: 404,
  });
  expect(
    await anthropic.messages.batches.retrieve("msgbatch_1").catch((error: unknown) => error),
  ).toMatchObject({ status: 404, error: { type: "error", error: { type: "not_found_error" } } });
});

test("a batch that is cancelled keeps what has ended", async () => {
  delay = 200;
  const created = await made(Array.from({ length: 60 }, (_, at) => chat(`l${at}`, `line ${at}`)));
  while ((await openai.batches.retrieve(created.id)).status !== "in_progress") await Bun.sleep(10);
  await Bun.sleep(100);
  expect((await openai.batches.cancel(created.id)).status).toBe("cancelling");
  expect((await openai.batches.cancel(created.id)).id).toBe(created.id);
  const batch = await ended(created.id);
  delay = 0;
  expect(batch.status).toBe("cancelled");
  const { total, completed, failed } = batch.request_counts!;
  expect([total, completed + failed, completed > 0, failed > 0]).toEqual([60, 60, true, true]);
  const errors = files.lines(batch.error_file_id!);
  expect(new Set(errors.map(({ error }) => (error as { code: string }).code))).toEqual(
    new Set(["batch_cancelled"]),
  );
  // Cancelling twice is no error.
  expect((await openai.batches.cancel(created.id)).status).toBe("cancelled");
});

test("a batch of Anthropic, read by all", async () => {
  const created = await anthropic.messages.batches.create({
    requests: ["eins", "bad zwei", "drei"].map((content, at) => ({
      custom_id: `m${at}`,
      params: { model: "p/m", max_tokens: 9, messages: [{ role: "user", content }] },
    })),
  });
  expect(created).toMatchObject({
    type: "message_batch",
    processing_status: "in_progress",
    results_url: null,
  });
  let batch = created;
  while (batch.processing_status !== "ended") {
    await Bun.sleep(50);
    batch = await anthropic.messages.batches.retrieve(created.id);
  }
  expect(batch.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 });
  const found: Record<string, unknown> = {};
  for await (const { custom_id, result } of await anthropic.messages.batches.results(created.id))
    found[custom_id] = result.type === "succeeded" ? result.message.content[0] : result.type;
  expect(found).toMatchObject({
    m0: { type: "text", text: "You said eins." },
    m1: "errored",
    m2: { type: "text", text: "You said drei." },
  });
  const same = await openai.batches.retrieve(created.id.replace("msgbatch_", "batch_"));
  expect(same).toMatchObject({ endpoint: "/v1/messages", request_counts: { completed: 2, failed: 1 } });
  expect(await anthropic.messages.batches.delete(created.id)).toEqual({
    ...{ id: created.id, type: "message_batch_deleted" },
  });
});

test("a batch of Google: results in the order of the input", async () => {
  const created = await google.batches.create({
    model: "p/m",
    src: ["uno", "bad dos", "tres"].map((text) => ({ contents: [{ role: "user", parts: [{ text }] }] })),
    config: { displayName: "mine" },
  });
  let batch = created;
  while (batch.state !== "JOB_STATE_SUCCEEDED") {
    await Bun.sleep(50);
    batch = await google.batches.get({ name: created.name! });
  }
  expect(batch.displayName).toBe("mine");
  const responses = batch.dest!.inlinedResponses!;
  expect(
    responses.map(
      ({ response, error }) => response?.candidates?.[0]?.content?.parts?.[0]?.text ?? error?.code,
    ),
  ).toEqual(["You said uno.", 3, "You said tres."]);
});

test("results in the languages of the two other vendors", async () => {
  const created = await made([chat("a", "one more"), chat("b", "bad one")]);
  const { id } = await ended(created.id);
  const read: unknown[] = [];
  for await (const { custom_id, result } of await anthropic.messages.batches.results(
    id.replace("batch_", "msgbatch_"),
  ))
    read.push(result.type === "succeeded" ? [custom_id, result.message.content] : [custom_id, result.type]);
  expect(read).toEqual([
    ["a", [{ type: "text", text: "You said one more." }]],
    ["b", "errored"],
  ]);
  const same = await google.batches.get({ name: id.replace("batch_", "batches/") });
  const [first, second] = same.dest!.inlinedResponses!;
  expect(first!.response!.candidates![0]!.content!.parts![0]!.text).toBe("You said one more.");
  expect(second!.error).toMatchObject({ code: 3 });
});

test("Google's paths below /v1 serve its clients, too", async () => {
  const headers = { "content-type": "application/json", "x-goog-api-key": "none" };
  const body = {
    batch: {
      inputConfig: { requests: { requests: [{ request: { contents: [{ parts: [{ text: "x" }] }] } }] } },
    },
  };
  const asked = await fetch(`${gateway.url}/v1/models/p/m:batchGenerateContent`, {
    ...{ method: "POST", headers, body: JSON.stringify(body) },
  });
  const { name } = (await asked.json()) as { name: string };
  expect([asked.status, name]).toEqual([200, expect.stringMatching(/^batches\//)]);
  const cancelled = await fetch(`${gateway.url}/v1/${name}:cancel`, { method: "POST", headers, body: "{}" });
  expect([200, 409]).toContain(cancelled.status);
  const found = await fetch(`${gateway.url}/v1/${name}`, { headers });
  expect(await found.json()).toMatchObject({ name });
});
