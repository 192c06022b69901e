/** What images cost: tokens of texts and images, pictures by size, vectors of another model, and budgets that count them. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { startBooked } from "../helpers/books.ts";
import { budget } from "../helpers/ledger.ts";
import { cut, type Handler, json, sse, startUpstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const ALL = budgetAccount("all", 0);

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

const DOES = {
  image: { "openai-images": "/images/generations", "openai-image-edits": "/images/edits" },
};

async function start(handler: Handler, prices: object, limit?: number) {
  const upstream = startUpstream(handler);
  const host = { baseUrl: upstream.url, models: ["*"], does: DOES };
  const gateway = await startBooked(
    { providers: { host }, prices, retries: { attempts: 3 } },
    limit === undefined ? [] : [budget("all", limit)],
  );
  running.push(gateway, upstream);
  const ask = (more: object = {}) =>
    fetch(`${gateway.url}/v1/images/generations`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify({ model: "host/m", prompt: "a red cat", ...more }),
    });
  return { gateway, upstream, ask };
}

const state = ({ state: at }: { state: number }) => CHARGE_STATES[at]!;
const images = (count: number, more: object = {}) =>
  json({ created: 1, data: Array.from({ length: count }, () => ({ b64_json: "aGk=" })), ...more });

const USAGE = {
  ...{ input_tokens: 50, input_tokens_details: { text_tokens: 20, image_tokens: 30 } },
  ...{
    output_tokens: 1000,
    output_tokens_details: { image_tokens: 900, text_tokens: 100 },
    total_tokens: 1050,
  },
};
const BY_TOKENS = { "host/m": { input: 5, imageIn: 8, output: 10, imageOut: 32 } };
/** 20 tokens of text at $5 a million, 30 of images at $8, 100 of text out at $10 and 900 of images out at $32. */
const COST = 20 * 5_000 + 30 * 8_000 + 100 * 10_000 + 900 * 32_000;

test("tokens have the prices of texts and images, in answers and in streams", async () => {
  const completed = `event: image_generation.completed\ndata: ${JSON.stringify({ type: "image_generation.completed", b64_json: "aGk=", usage: USAGE })}\n\n`;
  const { gateway, upstream, ask } = await start(() => images(1, { usage: USAGE }), BY_TOKENS);
  await (await ask()).text();
  upstream.answer(() => sse([completed]));
  expect(await (await ask({ stream: true })).text()).toBe(completed);
  const { calls } = await gateway.finish();
  expect(calls.map((call) => [call.cost, state(call), call.input, call.output])).toEqual([
    [COST, "metered", 50, 1000],
    [COST, "metered", 50, 1000],
  ]);
});

test("vectors of another model have its price", async () => {
  const svg = {
    model: "draws",
    input_tokens: 200,
    output_tokens: 3000,
    reasoning_tokens: 500,
    total_tokens: 3200,
  };
  const { gateway, ask } = await start(() => images(1, { usage: USAGE, svg_usage: svg }), {
    ...BY_TOKENS,
    "host/draws": { input: 1, output: 4 },
  });
  await (await ask({ output_format: "svg" })).text();
  const { calls } = await gateway.finish();
  expect([calls[0]!.cost, state(calls[0]!)]).toEqual([COST + 200 * 1_000 + 3000 * 4_000, "metered"]);
});

test.each([
  [{ n: 2, size: "1024x1024", quality: "hd" }, 2 * 0.08],
  [{ n: 1, size: "1024x1024", quality: "standard" }, 0.04],
  [{ n: 3, size: "512x512" }, 3 * 0.02],
  [{ n: 1, size: "auto" }, 0.02],
])("images of %j cost by size and quality", async (more, dollars) => {
  const units = { image: 0.02, "image-1024x1024": 0.04, "image-1024x1024-hd": 0.08 };
  const { gateway, ask } = await start(() => images(more.n), { "host/m": { units } });
  expect((await ask(more)).status).toBe(200);
  const { calls } = await gateway.finish();
  expect([calls[0]!.cost, state(calls[0]!)]).toEqual([Math.round(dollars * 1e9), "metered"]);
});

test("a model with a price for images is charged so where its host counts tokens, too", async () => {
  const { gateway, ask } = await start(() => images(2, { usage: USAGE }), {
    "host/m": { units: { image: 0.02 } },
  });
  await (await ask({ n: 2 })).text();
  const { calls } = await gateway.finish();
  expect([calls[0]!.cost, state(calls[0]!)]).toEqual([40_000_000, "metered"]);
});

test("a hard budget of one image is never over in 200 calls at once", async () => {
  const slow: Handler = async () => {
    await Bun.sleep(20);
    return images(1);
  };
  const price = { "host/m": { units: { image: 0.02 } } };
  const { gateway, upstream, ask } = await start(slow, price, 20_000_000);
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask()));
  expect(answers.filter(({ status }) => status === 200).length).toBe(1);
  expect(answers.filter(({ status }) => status === 429).length).toBe(199);
  expect(upstream.requests.length).toBe(1);
  expect((await gateway.finish()).spent.get(ALL)).toBe(20_000_000);
});

test("a hard budget holds every image of a call, and those of a stream", async () => {
  const { upstream, ask } = await start(() => images(1, { usage: USAGE }), BY_TOKENS, 6240 * 32_000 * 2);
  expect((await ask({ n: 3, quality: "high" })).status).toBe(429);
  expect((await ask({ quality: "auto", stream: true })).status).toBe(429);
  expect(upstream.requests.length).toBe(0);
  expect((await ask({ n: 1, quality: "high" })).status).toBe(200);
});

test("a stream that breaks off is charged for all, and never more than was held", async () => {
  const partial = `event: image_generation.partial_image\ndata: {"type":"image_generation.partial_image","b64_json":"aGk=","partial_image_index":0}\n\n`;
  const limit = 1_000_000_000;
  const { gateway, ask } = await start(() => cut([partial], "fin"), BY_TOKENS, limit);
  const text = await ask({ stream: true, quality: "high", partial_images: 1 }).then((answer) =>
    answer.text().catch(String),
  );
  expect(text).not.toContain("completed");
  const { calls, spent } = await gateway.finish();
  expect(calls.map(state)).toEqual(["assumed"]);
  expect(calls[0]!.tries).toBe(1);
  // 6,240 tokens of an image and 100 of a partial one, at the price of images.
  expect(calls[0]!.cost).toBeGreaterThanOrEqual(6340 * 32_000);
  expect(calls[0]!.cost).toBeLessThan(6340 * 32_000 + 500 * 8_000);
  expect(spent.get(ALL)).toBe(calls[0]!.cost);
});

test("without a budget a stream that breaks off is assumed to cost all, too", async () => {
  const partial = `event: image_generation.partial_image\ndata: {"type":"image_generation.partial_image","b64_json":"aGk="}\n\n`;
  const byTokens = await start(() => cut([partial], "fin"), BY_TOKENS);
  await byTokens.ask({ stream: true, quality: "low" }).then((answer) => answer.text().catch(String));
  const [call] = (await byTokens.gateway.finish()).calls;
  expect(state(call!)).toBe("assumed");
  expect(call!.cost).toBeGreaterThanOrEqual(408 * 32_000);
  expect(call!.cost).toBeLessThan(408 * 32_000 + 100 * 8_000);
  const byUnits = await start(() => cut([partial], "fin"), { "host/m": { units: { image: 0.02 } } });
  await byUnits.ask({ stream: true }).then((answer) => answer.text().catch(String));
  expect((await byUnits.gateway.finish()).calls.map((one) => [one.cost, state(one)])).toEqual([
    [20_000_000, "assumed"],
  ]);
});

test("a lost answer is not asked for again, and a refused request is", async () => {
  const lost = await start(() => ({ raw: [], ending: "rst" }), BY_TOKENS);
  expect((await lost.ask()).status).toBe(502);
  expect(lost.upstream.requests.length).toBe(1);
  let asked = 0;
  const later = await start(
    () => (asked++ === 0 ? json({ error: { message: "later" } }, 503) : images(1, { usage: USAGE })),
    BY_TOKENS,
  );
  expect((await later.ask()).status).toBe(200);
  expect((await later.gateway.finish()).calls[0]!.cost).toBe(COST);
});

test("a hard budget refuses a model without a price, and says how to give one", async () => {
  const { upstream, ask } = await start(
    () => images(1),
    { "host/other": { input: 1, output: 1 } },
    1_000_000,
  );
  const answer = await ask({ size: "1024x1024" });
  expect(answer.status).toBe(403);
  expect(await answer.text()).toContain("image-1024x1024");
  expect(upstream.requests.length).toBe(0);
});

test("an image without counts is charged by an estimate of its tokens", async () => {
  const { gateway, ask } = await start(() => images(1), BY_TOKENS);
  await (await ask({ quality: "low" })).text();
  const { calls } = await gateway.finish();
  expect(state(calls[0]!)).toBe("estimated");
  expect(calls[0]!.output).toBe(408);
  expect(calls[0]!.cost).toBeGreaterThanOrEqual(408 * 32_000);
});
