/** `weir batches retry` and `wait`, beside a gateway that runs. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { serve } from "../../../../test/helpers/serving.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(120_000);

const asked = new Map<string, number>();
let refuses = true;
let delay = 0;
const upstream = startUpstream(async ({ body }) => {
  const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] };
  const said = messages.at(-1)!.content;
  asked.set(said, (asked.get(said) ?? 0) + 1);
  await Bun.sleep(delay);
  if (refuses && said.startsWith("bad"))
    return json({ error: { message: "no", type: "invalid_request_error" } }, 400);
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
const gateway = await serve({
  workers: 1,
  config: JSON.stringify({
    providers: {
      p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
    },
    retries: { attempts: 1 },
  }),
});
afterAll(async () => {
  await gateway.end();
  upstream.stop();
});

const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });

async function made(texts: readonly string[]): Promise<string> {
  const lines = texts.map((content, at) => ({
    ...{ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions" },
    body: { model: "p/m", messages: [{ role: "user", content }] },
  }));
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  const file = await client.files.create({
    ...{ file: await toFile(Buffer.from(text), "in.jsonl"), purpose: "batch" },
  });
  const { id } = await client.batches.create({
    ...{ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  return id;
}

const batches = (...args: string[]) => gateway.runBeside("batches", ...args);

test("the failed lines of a batch are a new one; wait says by its exit code how a batch ended", async () => {
  const first = await made(["one", "bad two", "three", "bad four"]);
  const waited = await batches("wait", first);
  expect(waited).toMatchObject({ code: 1, output: expect.stringContaining("is done: 4 of 4, 2 failed") });
  expect((await batches("retry", first)).code).toBe(2);
  refuses = false;
  const retried = await batches("retry", first, "--failed", "--json");
  const { id, retries, path } = JSON.parse(retried.output) as Record<string, string>;
  expect([retried.code, `batch_${retries}`, path]).toEqual([0, first, "/"]);
  const again = await batches("wait", id!, "--timeout", "60");
  expect(again).toMatchObject({ code: 0, output: expect.stringContaining("is done: 2 of 2") });
  const batch = await client.batches.retrieve(`batch_${id}`);
  expect(batch).toMatchObject({
    ...{ request_counts: { total: 2, completed: 2, failed: 0 }, error_file_id: null },
  });
  const out = await (await client.files.content(batch.output_file_id!)).text();
  const ids = out
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
  expect(ids).toEqual(["l1", "l3"]);
  // Lines with an answer are not paid twice.
  expect(Object.fromEntries(asked)).toEqual({ one: 1, "bad two": 2, three: 1, "bad four": 2 });
  const none = await batches("retry", id!, "--failed");
  expect(none).toMatchObject({ code: 1, output: expect.stringContaining("No line of the batch has failed") });
});

test("a batch that runs is not retried, and a wait has its time", async () => {
  delay = 6_000;
  const id = await made(["slow one"]);
  const early = await batches("retry", id, "--failed");
  expect(early).toMatchObject({ code: 1, output: expect.stringContaining("has not ended") });
  const waited = await batches("wait", id, "--timeout", "1");
  expect(waited).toMatchObject({ code: 124, output: expect.stringContaining("has not ended") });
  delay = 0;
  expect((await batches("wait", id)).code).toBe(0);
  expect((await batches("wait", "batch_none")).code).toBe(1);
});

test("a batch whose files are gone is refused", async () => {
  refuses = true;
  const first = await made(["bad five"]);
  expect((await batches("wait", first)).code).toBe(1);
  const { input_file_id } = await client.batches.retrieve(first);
  await client.files.delete(input_file_id);
  const { output } = await batches("retry", first, "--failed", "--json");
  const { id } = JSON.parse(output) as { id: string };
  const waited = await batches("wait", id);
  expect(waited).toMatchObject({
    code: 1,
    output: expect.stringContaining("files of the batch before are gone"),
  });
});
