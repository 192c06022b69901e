/** Batches that Anthropic and Google run by their own batch APIs, made and read by the SDKs of all. */
import { afterAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { FakeInline } from "./fake-inline.ts";
import { BatchClient } from "./native-client.ts";

setDefaultTimeout(120_000);

const hosts = { a: new FakeInline(), g: new FakeInline() };
const gateway = await startGateway({
  config: {
    providers: {
      a: { speaks: "messages", baseUrl: hosts.a.url, apiKey: "k-1", models: ["c"] },
      g: { speaks: "gemini", baseUrl: hosts.g.url, apiKey: "k-2", models: ["g"] },
    },
    prices: { "a/c": { input: 1, output: 2 }, "g/g": { input: 1, output: 2 } },
    batches: {
      native: { a: { api: "anthropic" }, g: { api: "gemini", price: 0.25 } },
      poll: 1,
      limits: { perKey: 100 },
      retries: 0,
    },
    log: { format: "json" },
  },
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  for (const host of Object.values(hosts)) host.stop();
});
beforeEach(() => {
  for (const host of Object.values(hosts)) {
    host.billed.clear();
    host.batches.length = 0;
    Object.assign(host, { called: 0, looks: 1, loses: 0, expires: false });
  }
});

const client = new BatchClient(gateway.url);
const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: "none", maxRetries: 0 });
const google = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: gateway.url } });

test("Anthropic's client by Anthropic's API", async () => {
  const created = await anthropic.messages.batches.create({
    requests: ["eins", "bad zwei", "drei"].map((content, at) => ({
      custom_id: `m${at}`,
      params: { model: "a/c", max_tokens: 64_000, messages: [{ role: "user", content }] },
    })),
  });
  const { weir, status } = await client.ended(created.id.replace("msgbatch_", "batch_"));
  expect([status, weir.how, weir.cost]).toEqual(["completed", "native", "0.00013"]);
  const found: Record<string, unknown> = {};
  for await (const { custom_id, result } of await anthropic.messages.batches.results(created.id))
    found[custom_id] = result.type === "succeeded" ? result.message.content : result.type;
  expect(found).toEqual({
    m0: [{ type: "text", text: "You said eins." }],
    m1: "errored",
    m2: [{ type: "text", text: "You said drei." }],
  });
  expect(hosts.a.batches).toHaveLength(1);
  expect(hosts.a.batches[0]!.lines.map(({ key }) => key.replace(/-.*/, ""))).toEqual(["w1", "w2", "w3"]);
});

test("OpenAI's client by Anthropic's API and by Google's", async () => {
  for (const [model, host, cost] of [
    ["a/c", hosts.a, "0.00013"],
    ["g/g", hosts.g, "0.000065"],
  ] as const) {
    const batch = await client.ended(await client.madeOf(model, ["one", "bad", "three"]));
    expect(await client.results(batch)).toEqual({ l0: "You said one.", l1: 400, l2: "You said three." });
    expect(batch.weir).toMatchObject({ how: "native", cost });
    expect([host.batches.length, host.called]).toEqual([1, 0]);
  }
});

test("Google's client by Google's API: results in the order of the input", async () => {
  const created = await google.batches.create({
    model: "g/g",
    src: ["uno", "bad dos", "tres"].map((text) => ({ contents: [{ role: "user", parts: [{ text }] }] })),
  });
  let batch = created;
  while (batch.state !== "JOB_STATE_SUCCEEDED") {
    await Bun.sleep(50);
    batch = await google.batches.get({ name: created.name! });
  }
  expect(
    batch.dest!.inlinedResponses!.map(
      ({ response, error }) => response?.candidates?.[0]?.content?.parts?.[0]?.text ?? error?.code,
    ),
  ).toEqual(["You said uno.", 3, "You said tres."]);
  expect(hosts.g.batches).toHaveLength(1);
});

test("a creation whose answer is lost makes no twin", async () => {
  for (const [model, host] of [
    ["a/c", hosts.a],
    ["g/g", hosts.g],
  ] as const) {
    host.loses = 20;
    // With other numbers of lines: Anthropic's list tells batches apart by them and by results.
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, round) =>
        client.madeOf(
          model,
          Array.from({ length: 1 + (round % 3) }, (_, at) => `round ${round} line ${at}`),
        ),
      ),
    );
    for (const [round, id] of ids.entries())
      for (const [line, text] of Object.entries(await client.results(await client.ended(id))))
        expect(text).toBe(`You said round ${round} line ${line.slice(1)}.`);
    expect(host.batches).toHaveLength(20);
    expect(new Set(host.billed.values())).toEqual(new Set([1]));
  }
}, 240_000);

test("lines that the providers let expire say so", async () => {
  for (const [model, host] of [
    ["a/c", hosts.a],
    ["g/g", hosts.g],
  ] as const) {
    host.expires = true;
    const batch = await client.ended(await client.madeOf(model, ["one", "two"]));
    expect(await client.results(batch)).toEqual({ l0: "You said one.", l1: "batch_expired" });
  }
});

test("a cancellation is forwarded", async () => {
  for (const [model, host] of [
    ["a/c", hosts.a],
    ["g/g", hosts.g],
  ] as const) {
    host.looks = 1_000;
    const id = await client.madeOf(model, ["one"]);
    while (host.batches.length === 0) await Bun.sleep(20);
    await client.openai.batches.cancel(id);
    const batch = await client.ended(id);
    expect([batch.status, await client.results(batch)]).toEqual(["cancelled", { l0: "You said one." }]);
    expect(host.batches.map(({ isCancelled }) => isCancelled)).toEqual([true]);
  }
});
