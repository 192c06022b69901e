/** Long requests and cached tokens in batches of providers: the prices of the shipped book for them, and half of these. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { PriceBook } from "../../../ledger/prices/book.ts";
import { FakeInline } from "./fake-inline.ts";
import { FakeOpenAI } from "./fake-openai.ts";
import { BatchClient } from "./native-client.ts";

setDefaultTimeout(120_000);

/** Tokens of a request that is short, and of one that is long at each of the vendors. */
const SHORT = 1_000;
const LONG = 400_000;

const openaiHost = new FakeOpenAI();
const anthropicHost = new FakeInline();
const geminiHost = new FakeInline();
const config = (host: { url: string }) => ({ baseUrl: host.url, apiKey: "k-0123456789" });
const gateway = await startGateway({
  config: {
    providers: {
      openai: config(openaiHost),
      anthropic: config(anthropicHost),
      gemini: config({ url: `${geminiHost.url}/v1beta` }),
    },
    batches: {
      native: { openai: { api: "openai" }, anthropic: { api: "anthropic" }, gemini: { api: "gemini" } },
      ...{ poll: 1, retries: 0 },
    },
    log: { format: "json" },
  },
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  for (const host of [openaiHost, anthropicHost, geminiHost]) host.stop();
});

const client = new BatchClient(gateway.url);
const book = new PriceBook();

/** A tenth of the input is read from a cache, and a hundredth written to it where the vendor says so. */
const tokens = (said: string) => {
  const input = said === "long" ? LONG : SHORT;
  return { input, read: input / 10, written: input / 100 };
};

openaiHost.usage = (said) => {
  const { input, read } = tokens(said);
  const details = { prompt_tokens_details: { cached_tokens: read } };
  return { prompt_tokens: input, total_tokens: input + 50, ...details };
};
anthropicHost.usage = (said) => {
  const { input, read, written } = tokens(said);
  return {
    input_tokens: input - read - written,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  };
};
geminiHost.usage = (said) => {
  const { input, read } = tokens(said);
  return { promptTokenCount: input, cachedContentTokenCount: read, totalTokenCount: input + 50 };
};

/** Nano-dollars by hand. */
function costOf(provider: string, model: string, said: string): number {
  const rule = book.lookup(provider, model)!;
  const tier = rule.tiers![0]!;
  expect([tier.above > SHORT, tier.above < LONG]).toEqual([true, true]);
  const { input, cacheRead, cacheWrite = 0, output } = said === "long" ? tier : rule;
  const of = tokens(said);
  const written = provider === "anthropic" ? of.written : 0;
  const plain = of.input - of.read - written;
  const pico = plain * input! + of.read * cacheRead! + written * cacheWrite + 50 * output!;
  return pico / 1_000 / 2;
}

for (const [provider, model] of [
  ["openai", "gpt-5.4"],
  ["anthropic", "claude-haiku-5-5"],
  ["gemini", "gemini-2.5-pro"],
] as const)
  test(`${provider}/${model}`, async () => {
    const batch = await client.ended(await client.madeOf(`${provider}/${model}`, ["short", "long"]));
    expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
    expect(batch.usage).toMatchObject({
      ...{ input_tokens: LONG + SHORT, output_tokens: 100 },
      input_tokens_details: { cached_tokens: (LONG + SHORT) / 10 },
    });
    const { cost, how } = batch.weir;
    const expected = costOf(provider, model, "short") + costOf(provider, model, "long");
    expect([how, Math.round(Number(cost) * 1e9)]).toEqual(["native", expected]);
  });
