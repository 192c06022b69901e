/** Ends of batches for a webhook: signed, verified by OpenAI's SDK, repeated, and once in effect. */
import { afterAll, afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";

setDefaultTimeout(120_000);

const KEY = "weir-key-of-webhooks-1234567";
const SECRET = `whsec_${Buffer.from("a secret of the receiver").toString("base64")}`;
const state = mkdtempSync(join(tmpdir(), "weir-webhook-"));

interface Delivery {
  readonly body: string;
  readonly headers: Headers;
}

const deliveries: Delivery[] = [];
/** Status of each answer; further ones are 200. */
let answers: number[] = [];
const receiver = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (new URL(request.url).pathname !== "/hook") return new Response("moved", { status: 404 });
    deliveries.push({ body: await request.text(), headers: request.headers });
    const status = answers.shift() ?? 200;
    return new Response("", { status, headers: status === 307 ? { location: "/other" } : {} });
  },
});
const url = `http://127.0.0.1:${receiver.port}/hook?token=private-token-7`;

let gateway: RunningGateway;
async function start(batches: object = { webhook: { url, secret: SECRET } }): Promise<OpenAI> {
  gateway = await startGateway({
    config: { state, keys: [{ name: "eng", key: KEY, path: "/eng" }], batches, log: { format: "json" } },
    target: "process",
  });
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
}
afterEach(async () => {
  await gateway.stop();
  deliveries.length = 0;
  answers = [];
});
afterAll(async () => {
  await receiver.stop(true);
  rmSync(state, { recursive: true, force: true });
});

async function made(openai: OpenAI, text: string): Promise<OpenAI.Batch> {
  const file = await toFile(Buffer.from(text), "in.jsonl");
  const { id: input_file_id } = await openai.files.create({ file, purpose: "batch" });
  return openai.batches.create({
    ...{ input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
}

const LINE = JSON.stringify({
  ...{ custom_id: "a", method: "POST", url: "/v1/chat/completions" },
  body: { model: "mock/echo", messages: [{ role: "user", content: "x" }] },
});

async function arrived(count: number): Promise<void> {
  while (deliveries.length < count) await Bun.sleep(20);
}

function unwrapped({ body, headers }: Delivery) {
  return new OpenAI({ apiKey: "none" }).webhooks.unwrap(body, headers, SECRET);
}

test("the end of a batch is an event that OpenAI's SDK verifies", async () => {
  const openai = await start();
  const { id } = await made(openai, LINE);
  await arrived(1);
  const event = await unwrapped(deliveries[0]!);
  const batch = await openai.batches.retrieve(id);
  expect(event).toEqual({
    ...{ id: `evt_${id.slice("batch_".length)}`, object: "event", type: "batch.completed" },
    ...{ created_at: batch.completed_at!, data: { id } },
  });
  expect(deliveries[0]!.headers.get("webhook-id")).toBe(event.id);
  const forged = { ...deliveries[0]!, body: deliveries[0]!.body.replace("completed", "cancelled") };
  expect(await unwrapped(forged).catch((error: Error) => error.name)).toBe("Error");
  // Polling beside it costs nothing.
  const { weir } = batch as unknown as { weir: { cost: string } };
  expect((await openai.batches.retrieve(id)) as unknown).toMatchObject({ weir: { cost: weir.cost } });
  const { id: refused } = await made(openai, "no JSON");
  await arrived(2);
  expect(await unwrapped(deliveries[1]!)).toMatchObject({ type: "batch.failed", data: { id: refused } });
});

test("a receiver that does not take an event gets it again, by the same id, and once more after a restart", async () => {
  // A redirect is not followed.
  answers = [307, 503, 503, 503];
  const first = await start();
  const { id } = await made(first, LINE);
  await arrived(1);
  while (!gateway.log.join("\n").includes("weir tries again")) await Bun.sleep(20);
  expect(gateway.log.join("\n")).not.toContain("private-token-7");
  await gateway.stop();
  const before = deliveries.length;
  answers = [];
  await start();
  await arrived(before + 1);
  const events = await Promise.all(deliveries.map(unwrapped));
  expect(new Set(events.map((event) => event.id))).toEqual(new Set([`evt_${id.slice("batch_".length)}`]));
  // It was taken: no request follows.
  await Bun.sleep(3_000);
  expect(deliveries.length).toBe(before + 1);
});

test("batches that end without a webhook have no event later", async () => {
  const openai = await start({});
  const { id } = await made(openai, LINE);
  while ((await openai.batches.retrieve(id)).status !== "completed") await Bun.sleep(50);
  await gateway.stop();
  const next = await start();
  await made(next, LINE);
  await arrived(1);
  await Bun.sleep(3_000);
  expect(deliveries.length).toBe(1);
  expect((await unwrapped(deliveries[0]!)).id).not.toBe(`evt_${id.slice("batch_".length)}`);
});
