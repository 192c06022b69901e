/** Who sees batches, and what becomes of them with their key; guards at each line. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { MemoryFiles } from "./memory-files.ts";

setDefaultTimeout(60_000);

const KEYS = {
  ann: "weir-key-of-ann-1234567",
  bob: "weir-key-of-bob-1234567",
  eve: "weir-key-of-eve-1234567",
};
const files = new MemoryFiles();
let delay = 0;
const upstream = startUpstream(async () => {
  await Bun.sleep(delay);
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: "So." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
const gateway = await startGateway({
  config: {
    providers: {
      p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m", "n"] },
    },
    keys: [
      { name: "ann", key: KEYS.ann, path: "/eng" },
      { name: "bob", key: KEYS.bob, path: "/eng" },
      {
        name: "eve",
        key: KEYS.eve,
        path: "/eng",
        endpoints: ["chat-completions"],
      },
    ],
    guards: { cards: { find: ["card"], do: "block", on: "input" } },
    batches: { limits: { perKey: 2 } },
    log: { format: "json" },
  },
  features: [files.feature],
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
const ann = clientOf(KEYS.ann);
const bob = clientOf(KEYS.bob);

const chat = (id: string, content: string, model = "p/m") => ({
  ...{ custom_id: id, method: "POST", url: "/v1/chat/completions" },
  body: { model, messages: [{ role: "user", content }] },
});

async function made(client: OpenAI, lines: readonly unknown[]): Promise<OpenAI.Batch> {
  const { id } = await files.input(lines);
  return client.batches.create({
    ...{ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
}

async function ended(client: OpenAI, { id }: OpenAI.Batch): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await client.batches.retrieve(id);
    if (["completed", "failed", "cancelled", "expired"].includes(batch.status)) return batch;
    await Bun.sleep(20);
  }
}

const statusOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 200,
    ({ status }: { status: number }) => status,
  );

test("a batch is that of its key: others find nothing", async () => {
  const batch = await ended(ann, await made(ann, [chat("a", "x")]));
  const other = new Anthropic({ baseURL: gateway.url, apiKey: KEYS.bob, maxRetries: 0 });
  const own = batch.id.replace("batch_", "msgbatch_");
  expect(
    await Promise.all([
      statusOf(bob.batches.retrieve(batch.id)),
      statusOf(bob.batches.cancel(batch.id)),
      statusOf(other.messages.batches.retrieve(own)),
      statusOf(other.messages.batches.results(own)),
      statusOf(other.messages.batches.delete(own)),
      statusOf(clientOf("weir-key-of-nobody-123").batches.retrieve(batch.id)),
    ]),
  ).toEqual([404, 404, 404, 404, 404, 401]);
  expect((await bob.batches.list()).data).toEqual([]);
  expect((await ann.batches.list()).data.map(({ id }) => id)).toEqual([batch.id]);
});

test("guesses find nothing", async () => {
  const guess = async () => {
    const id = Array.from(
      { length: 26 },
      () => "0123456789abcdefghjkmnpqrstvwxyz"[Math.floor(Math.random() * 32)],
    );
    const response = await fetch(`${gateway.url}/v1/batches/batch_${id.join("")}`, {
      headers: { authorization: `Bearer ${KEYS.bob}` },
    });
    await response.arrayBuffer();
    return response.status;
  };
  const found = new Set<number>();
  for (let round = 0; round < 20; round++)
    for (const status of await Promise.all(Array.from({ length: 50 }, guess))) found.add(status);
  expect([...found]).toEqual([404]);
});

test("a key without batches among its endpoints makes none", async () => {
  expect(await statusOf(made(clientOf(KEYS.eve), [chat("a", "x")]))).toBe(403);
});

test("guards judge each line", async () => {
  const batch = await ended(ann, await made(ann, [chat("a", "hello"), chat("b", "4111 1111 1111 1111")]));
  expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
  const [refused] = files.lines(batch.error_file_id!);
  expect(refused).toMatchObject({
    custom_id: "b",
    response: { status_code: 400, body: { error: { code: "blocked_by_guard" } } },
  });
  expect(JSON.stringify(refused)).not.toContain("4111");
});

test("a key has at most the batches that the config permits", async () => {
  delay = 1_000;
  const first = await made(bob, [chat("a", "x")]);
  const second = await made(bob, [chat("a", "x")]);
  const refused = await made(bob, [chat("a", "x")]).catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 429, code: "batch_limit" });
  delay = 0;
  for (const batch of [first, second]) await ended(bob, batch);
  await ended(bob, await made(bob, [chat("a", "x")]));
});

test("lists go page by page in both directions", async () => {
  for (let at = 0; at < 5; at++) await ended(ann, await made(ann, [chat("a", `${at}`)]));
  const all: string[] = [];
  for await (const { id } of ann.batches.list({ limit: 2 })) all.push(id);
  expect(new Set(all).size).toBe(all.length);
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: KEYS.ann, maxRetries: 0 });
  const bare = (id: string) => id.replace(/^(msg)?batch_/, "");
  const same: string[] = [];
  for await (const { id } of anthropic.messages.batches.list({ limit: 3 })) same.push(id);
  expect(same.map(bare)).toEqual(all.map(bare));
  const before = await anthropic.messages.batches.list({ limit: 2, before_id: same[4]! });
  expect(before.data.map(({ id }) => id)).toEqual(same.slice(2, 4));
});
