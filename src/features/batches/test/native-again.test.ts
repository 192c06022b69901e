/** Lines that a provider refuses for now, in its results: they go into a further batch of it. */
import { afterAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { isIn } from "../native/ranges.ts";
import { FakeOpenAI } from "./fake-openai.ts";
import { BatchClient } from "./native-client.ts";

setDefaultTimeout(120_000);

const KEY = "weir-key-of-batches-1234567";
/** Dollars of a line: 30 tokens in and 50 out, at $1 and $2 a million, and half of it. */
const LINE = 0.000065;

const host = new FakeOpenAI();
const gateway = await startGateway({
  config: {
    providers: { p: { speaks: "chat-completions", baseUrl: host.url, apiKey: "k-1", models: ["m"] } },
    prices: { "p/m": { input: 1, output: 2 } },
    keys: [{ name: "eng", key: KEY, path: "/eng" }],
    budgets: { all: { on: { path: "/eng" }, limit: 1, every: "total", mode: "hard" } },
    batches: { native: { p: { api: "openai" } }, poll: 1, retries: 2 },
    log: { format: "json" },
  },
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  host.stop();
});
beforeEach(() => {
  host.batches.length = 0;
  host.billed.clear();
  host.ran.clear();
  Object.assign(host, { looks: 1, busy: () => [] });
});

const client = new BatchClient(gateway.url, KEY);

test("they are tried again, at the price of batches, and each is paid once", async () => {
  host.busy = (said) => ({ one: [429], three: [500, 503], five: [429, 429, 529, 429] })[said] ?? [];
  const batch = await client.ended(
    await client.madeOf("p/m", ["one", "two", "three", "bad four", "five", "six"]),
  );
  expect(await client.results(batch)).toEqual({
    ...{ l0: "You said one.", l1: "You said two.", l2: "You said three." },
    ...{ l3: 400, l4: 529, l5: "You said six." },
  });
  expect(batch.weir.how).toBe("native");
  expect(Number(batch.weir.cost)).toBeCloseTo(4 * LINE, 9);
  expect(Object.fromEntries(host.ran)).toEqual({ one: 2, two: 1, three: 3, five: 3, six: 1 });
  expect(Object.fromEntries(host.billed)).toEqual({ one: 1, two: 1, three: 1, six: 1 });
  expect([host.batches.length, host.called]).toEqual([3, []]);
  expect(new Set(host.batches.map(({ metadata }) => metadata["weir_batch"])).size).toBe(3);
});

test("a cancelled batch tries nothing again", async () => {
  Object.assign(host, { looks: 1_000, busy: () => [429] });
  const id = await client.madeOf("p/m", ["one", "two"]);
  while (host.batches.length === 0) await Bun.sleep(20);
  await client.openai.batches.cancel(id);
  const batch = await client.ended(id);
  expect([batch.status, await client.results(batch)]).toEqual([
    "cancelled",
    { l0: 429, l1: "batch_cancelled" },
  ]);
  expect([host.batches.length, batch.weir.cost]).toEqual([1, "0"]);
});

test("ranges of lines", () => {
  const ranges = [
    [2, 2],
    [4, 7],
    [9, 20],
  ] as const;
  const found = Array.from({ length: 23 }, (_, line) => line).filter((line) => isIn(ranges, line));
  expect(found).toEqual([2, 4, 5, 6, 7, ...Array.from({ length: 12 }, (_, at) => 9 + at)]);
  expect(isIn([], 1)).toBe(false);
});
