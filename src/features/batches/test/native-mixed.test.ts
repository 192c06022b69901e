/** A batch of several models: its lines are split among the batches of their providers and weir, and joined at the end. */
import { afterAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { FakeInline } from "./fake-inline.ts";
import { FakeOpenAI } from "./fake-openai.ts";
import { BatchClient, chatLine } from "./native-client.ts";

setDefaultTimeout(120_000);

const hosts = { p: new FakeOpenAI(), r: new FakeOpenAI(), a: new FakeInline() };
const MODELS = ["p/m", "p/n", "a/c", "r/m"] as const;

const start = (more: object) =>
  startGateway({
    config: {
      providers: {
        p: { speaks: "chat-completions", baseUrl: hosts.p.url, apiKey: "k-1", models: ["m", "n"] },
        r: { speaks: "chat-completions", baseUrl: hosts.r.url, apiKey: "k-2", models: ["m"] },
        a: { speaks: "messages", baseUrl: hosts.a.url, apiKey: "k-3", models: ["c"] },
      },
      prices: Object.fromEntries(MODELS.map((model) => [model, { input: 1, output: 2 }])),
      batches: { native: { p: { api: "openai" }, a: { api: "anthropic" } }, poll: 1, retries: 0, ...more },
      log: { format: "json" },
    },
  });
const gateway = await start({});
const strict = await start({ mixed: false });
await Promise.all([gateway.opened(), strict.opened()]);
const client = new BatchClient(gateway.url);
afterAll(async () => {
  await Promise.all([gateway.stop(), strict.stop()]);
  for (const host of Object.values(hosts)) host.stop();
});
beforeEach(() => {
  for (const host of Object.values(hosts)) {
    host.batches.length = 0;
    host.billed.clear();
  }
  for (const { called } of [hosts.p, hosts.r]) called.length = 0;
  hosts.a.called = 0;
});

async function ended(client: BatchClient, models: readonly string[]) {
  const lines = models.map((model, at) => chatLine(`l${at}`, model, `${model} ${at}`));
  return client.ended(await client.made(lines));
}

test("each model goes its own way, and all lines come back", async () => {
  const models = Array.from({ length: 40 }, (_, at) => MODELS[at % MODELS.length]!);
  const batch = await ended(client, models);
  expect(batch.request_counts).toEqual({ total: 40, completed: 40, failed: 0 });
  expect(await client.results(batch)).toEqual(
    Object.fromEntries(models.map((model, at) => [`l${at}`, `You said ${model} ${at}.`])),
  );
  // Two models at the first provider, one at the second; the third has no batch API.
  expect([hosts.p.batches.length, hosts.a.batches.length, hosts.r.batches.length]).toEqual([2, 1, 0]);
  expect([hosts.p.called.length, hosts.a.called, hosts.r.called.length]).toEqual([0, 0, 10]);
  expect([hosts.p.billed.size, hosts.a.billed.size]).toEqual([20, 10]);
  // 10 lines at the usual price of 130 millionths of a dollar, and 30 at half of it.
  expect(Number(batch.weir.cost)).toBeCloseTo(10 * 0.00013 + 30 * 0.000065, 9);
});

test("where models must not be mixed, the batch fails and names the lines", async () => {
  const batch = await ended(new BatchClient(strict.url), ["p/m", "p/n", "p/m", "a/c"]);
  expect(batch.status).toBe("failed");
  expect(batch.errors!.data!.map(({ code, line, param }) => [code, line, param])).toEqual([
    ["model_mismatch", 2, "body.model"],
    ["model_mismatch", 4, "body.model"],
  ]);
  expect([hosts.p.batches.length, hosts.a.batches.length, hosts.p.called.length]).toEqual([0, 0, 0]);
  expect((await ended(new BatchClient(strict.url), ["p/m", "p/m"])).request_counts!.completed).toBe(2);
});
