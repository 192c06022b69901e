/** Batches that a provider runs by its own batch API, at its lower price: OpenAI's. */
import { afterAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { FakeOpenAI } from "./fake-openai.ts";
import { BatchClient, chatLine } from "./native-client.ts";

setDefaultTimeout(120_000);

const host = new FakeOpenAI();
const gateway = await startGateway({
  config: {
    providers: {
      p: { speaks: "chat-completions", baseUrl: host.url, apiKey: "k-1", models: ["m", "n"] },
    },
    prices: { "p/m": { input: 1, output: 2 }, "p/n": { input: 1, output: 2 } },
    batches: { native: { p: { api: "openai" } }, poll: 1, limits: { perKey: 100 }, retries: 0 },
    log: { format: "json" },
  },
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  host.stop();
});
beforeEach(() => {
  host.billed.clear();
  host.called.length = 0;
  host.batches.length = 0;
  Object.assign(host, {
    looks: 1,
    loses: [],
    ends: "completed",
    refuses: undefined,
    refusesFiles: undefined,
  });
});

const client = new BatchClient(gateway.url);
const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: "none", maxRetries: 0 });

const chat = (id: string, content: string, more?: object) => chatLine(id, "p/m", content, more);

test("lines go to the provider as one batch, and cost half", async () => {
  const id = await client.made([
    chat("a", "one"),
    chat("b", "bad"),
    chat("c", "three", { seed: 12345678901234567890n.toString().length }),
  ]);
  const batch = await client.ended(id);
  expect(batch).toMatchObject({
    status: "completed",
    request_counts: { total: 3, completed: 2, failed: 1 },
    usage: { input_tokens: 60, output_tokens: 100 },
    // 2 × (30 × $1 + 50 × $2) / 10⁶ / 2
    weir: { how: "native", cost: "0.00013" },
  });
  expect(await client.results(batch)).toEqual({ a: "You said one.", b: 400, c: "You said three." });
  expect(host.batches).toHaveLength(1);
  expect(host.batches[0]!.metadata["weir_batch"]).toBe(`${id.slice(6)}-1`);
  expect([[...host.billed], host.called]).toEqual([
    [
      ["one", 1],
      ["three", 1],
    ],
    [],
  ]);
});

test("each model has a batch of its own", async () => {
  const lines = Array.from({ length: 40 }, (_, at) =>
    chat(`l${at}`, `line ${at}`, { model: at % 2 ? "p/m" : "p/n" }),
  );
  const batch = await client.ended(await client.made(lines));
  expect(batch.request_counts).toEqual({ total: 40, completed: 40, failed: 0 });
  for (const [id, text] of Object.entries(await client.results(batch)))
    expect(text).toBe(`You said line ${id.slice(1)}.`);
  expect(host.batches.length).toBe(2);
  expect([...host.billed.values()]).toEqual(Array.from({ length: 40 }, () => 1));
});

test("a creation whose answer is lost makes no twin", async () => {
  host.loses = Array.from({ length: 20 }, (_, round) => (round % 2 ? "rst" : "502"));
  const ids = await Promise.all(
    Array.from({ length: 20 }, (_, round) =>
      client.made([chat("a", `round ${round}`), chat("b", `again ${round}`)]),
    ),
  );
  for (const [round, id] of ids.entries())
    expect(await client.results(await client.ended(id))).toEqual({
      ...{ a: `You said round ${round}.`, b: `You said again ${round}.` },
    });
  expect([host.batches.length, host.loses]).toEqual([20, []]);
  expect(new Set(host.billed.values())).toEqual(new Set([1]));
  expect(host.called).toEqual([]);
}, 240_000);

test("a batch that may exist is looked for until the provider says whether it does", async () => {
  Object.assign(host, { loses: ["rst", "502"], hides: [503, 401, 429, 500, 403] });
  const batch = await client.ended(await client.made([chat("a", "one")]));
  expect(await client.results(batch)).toEqual({ a: "You said one." });
  expect([host.batches.length, host.hides, host.called]).toEqual([1, [], []]);
});

test("where the provider lists no batches, a line that it may have is lost and not run", async () => {
  Object.assign(host, { loses: ["rst"], hides: [404, 404, 404, 404, 404] });
  const batch = await client.ended(await client.made([chat("a", "one")]));
  expect(await client.results(batch)).toEqual({ a: "upstream_lost" });
  expect([host.batches.length, host.called, host.hides]).toEqual([1, [], []]);
}, 240_000);

test("weir runs a batch that the provider fails as a whole or does not take", async () => {
  host.ends = "failed";
  const failed = await client.ended(await client.made([chat("a", "one"), chat("b", "two")]));
  expect(await client.results(failed)).toEqual({ a: "You said one.", b: "You said two." });
  expect(failed.weir.cost).toBe("0.00026");
  host.refuses = 404;
  const refused = await client.ended(await client.made([chat("a", "three")]));
  expect(await client.results(refused)).toEqual({ a: "You said three." });
  expect(host.called.toSorted()).toEqual(["one", "three", "two"]);
  expect(host.billed.size).toBe(0);
});

test("weir runs lines whose file the provider never took: nothing was created", async () => {
  host.refusesFiles = 503;
  const batch = await client.ended(await client.made([chat("a", "one")]));
  expect(await client.results(batch)).toEqual({ a: "You said one." });
  expect([host.called, host.batches.length, batch.weir.cost]).toEqual([["one"], 0, "0.00013"]);
});

test("a cancellation is forwarded, and what has ended is kept", async () => {
  host.looks = 1_000;
  const id = await client.made([chat("a", "one"), chat("b", "two"), chat("c", "three"), chat("d", "four")]);
  while (host.batches.length === 0) await Bun.sleep(20);
  await client.openai.batches.cancel(id);
  const batch = await client.ended(id);
  expect(batch.status).toBe("cancelled");
  expect(await client.results(batch)).toEqual({
    ...{ a: "You said one.", b: "You said two.", c: "batch_cancelled", d: "batch_cancelled" },
  });
  expect(batch.weir.cost).toBe("0.00013");
});

test("lines that the provider lets expire say so", async () => {
  host.ends = "expired";
  const batch = await client.ended(await client.made([chat("a", "one"), chat("b", "two")]));
  expect(await client.results(batch)).toEqual({ a: "You said one.", b: "batch_expired" });
  expect(batch.status).toBe("expired");
});

test("a batch of Anthropic's client by OpenAI's API", async () => {
  const created = await anthropic.messages.batches.create({
    requests: ["eins", "bad zwei", "drei"].map((content, at) => ({
      custom_id: `m${at}`,
      params: { model: "p/m", max_tokens: 99, messages: [{ role: "user", content }] },
    })),
  });
  let batch = created;
  while (batch.processing_status !== "ended") {
    await Bun.sleep(50);
    batch = await anthropic.messages.batches.retrieve(created.id);
  }
  const found: Record<string, unknown> = {};
  for await (const { custom_id, result } of await anthropic.messages.batches.results(created.id))
    found[custom_id] = result.type === "succeeded" ? result.message.content : result.type;
  expect(found).toEqual({
    m0: [expect.objectContaining({ type: "text", text: "You said eins." })],
    m1: "errored",
    m2: [expect.objectContaining({ type: "text", text: "You said drei." })],
  });
  expect([host.batches.length, host.called.length]).toEqual([1, 0]);
});
