/** What a running gateway books for calls: a fake upstream answers, the store says what they cost. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import type { RunningWeir } from "../../src/run/running-weir.ts";
import { startWeir } from "../../src/run/weir.ts";
import { startUpstream, json, sse, type Upstream } from "../helpers/upstream.ts";

setDefaultTimeout(120_000);

const PRICES = {
  "chat/*": { input: 1, cacheRead: 0.1, output: 5 },
  "talk/*": { input: 3, cacheRead: 0.3, output: 15 },
};

/** What the upstream counts, by the last word of the model's name. */
const USAGE: Readonly<Record<string, Record<string, unknown>>> = {
  plain: { prompt_tokens: 1000, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 400 } },
  reported: { prompt_tokens: 1000, completion_tokens: 20, cost: 0.00123 },
};

let folder: string;
let upstream: Upstream;
let weir: RunningWeir;

function load(prices: object, more: object = {}) {
  const config = {
    state: "state",
    // Every call is answered by the first attempt.
    retries: { attempts: 1 },
    log: { level: "silent" },
    prices,
    providers: {
      chat: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["plain", "reported"] },
      openai: { baseUrl: `${upstream.url}/v1`, apiKey: "key-of-a-fake-upstream" },
      talk: { baseUrl: upstream.url, speaks: "messages", models: ["talker"] },
    },
    ...more,
  };
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify(config));
  return loadConfig({ flags: { "--port": "0" }, env: {}, cwd: folder });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-charges-"));
  upstream = startUpstream((request) => {
    if (request.method === "GET") return json({ data: [] });
    const body = JSON.parse(request.body.toString()) as { model: string; stream?: boolean };
    if (request.path.startsWith("/v1/messages")) return talk(body.stream === true);
    return chat(USAGE[body.model]!, body.stream === true);
  });
  weir = await startWeir({ ...load(PRICES), env: {}, write: () => {} });
});
afterAll(async () => {
  await weir.stop();
  upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

function chat(usage: object, stream: boolean) {
  if (!stream)
    return json({
      id: "c1",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
      usage,
    });
  return sse([
    data({ id: "c1", choices: [{ index: 0, delta: { role: "assistant", content: "Hi" } }] }),
    data({ id: "c1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
    data({ id: "c1", choices: [], usage }),
    "data: [DONE]\n\n",
  ]);
}

function talk(stream: boolean) {
  const usage = {
    input_tokens: 600,
    cache_read_input_tokens: 400,
    cache_creation_input_tokens: 0,
    output_tokens: 20,
  };
  const message = { id: "m1", type: "message", role: "assistant", model: "talker" };
  if (!stream)
    return json({ ...message, content: [{ type: "text", text: "Hi" }], stop_reason: "end_turn", usage });
  const events = [
    { type: "message_start", message: { ...message, content: [], usage: { ...usage, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 20 } },
    { type: "message_stop" },
  ];
  return sse(events.map((event) => `event: ${event.type}\n${data(event)}`));
}

function data(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** Calls a model in a client's format, and returns what the store says of the call. */
async function booked(format: "chat" | "messages", model: string, stream = false) {
  const path = format === "chat" ? "/v1/chat/completions" : "/v1/messages";
  const response = await fetch(`${weir.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model, stream, max_tokens: 100, messages: [{ role: "user", content: "Hello" }] }),
  });
  expect([response.status, (await response.text()).length > 0]).toEqual([200, true]);
  return nextRow();
}

interface Row {
  state: (typeof CHARGE_STATES)[number];
  cost: number;
  price?: string;
}

const counted = new Set<number>();

/** The row of the last call, which the keeper writes shortly after it. */
async function nextRow(): Promise<Row> {
  for (let tries = 0; tries < 400; tries++) {
    const row = newest();
    if (row && !counted.has(row.number)) {
      counted.add(row.number);
      return {
        state: CHARGE_STATES[row.state]!,
        cost: row.cost,
        ...(row.ref !== null && { price: row.ref }),
      };
    }
    await Bun.sleep(25);
  }
  throw new Error("The call was not booked.");
}

function newest(): { number: number; state: number; cost: number; ref: string | null } | undefined {
  let store: Database | undefined;
  try {
    store = new Database(join(folder, "state/weir.db"), { readonly: true });
    return (
      store
        .query<{ number: number; state: number; cost: number; ref: string | null }, []>(
          "SELECT number, state, cost, ref FROM calls LEFT JOIN prices ON prices.id = price ORDER BY number DESC LIMIT 1",
        )
        .get() ?? undefined
    );
  } catch {
    // The keeper makes the file and its tables after the gateway has begun to listen.
    return undefined;
  } finally {
    store?.close();
  }
}

test("the four lanes and both forms of an answer book the same charge", async () => {
  const costs: number[] = [];
  for (const [provider, factor] of [
    ["chat/plain", 1],
    ["talk/talker", 3],
  ] as const)
    for (const format of ["chat", "messages"] as const)
      for (const stream of [false, true]) {
        const { state, cost } = await booked(format, provider, stream);
        expect(state).toBe("metered");
        costs.push(cost / factor);
      }
  expect(costs).toEqual(Array(8).fill(600 * 1000 + 400 * 100 + 20 * 5000));
}, 60_000);

test("a cost that the provider reports is booked, unless the config names a price", async () => {
  await weir.reload({ ...load({}), env: {} });
  expect(await booked("chat", "chat/reported")).toEqual({ state: "reported", cost: 1_230_000 });
  await weir.reload({ ...load(PRICES), env: {} });
  expect(await booked("chat", "chat/reported")).toMatchObject({ state: "metered", cost: 1_100_000 });
}, 60_000);

test("a model without a price is unpriced, and one with the price 0 is free", async () => {
  await weir.reload({ ...load({}), env: {} });
  expect(await booked("chat", "chat/plain")).toEqual({ state: "unpriced", cost: 0 });
  await weir.reload({ ...load({ "chat/*": 0 }), env: {} });
  expect(await booked("chat", "chat/plain")).toMatchObject({ state: "free", cost: 0 });
}, 60_000);

test("a reload changes the price of later calls, and each call keeps the price that it was charged by", async () => {
  await weir.reload({ ...load({ "mock/*": { input: 1, output: 2 } }), env: {} });
  const first = await booked("chat", "mock/chat");
  await weir.reload({ ...load({ "mock/*": { input: 10, output: 20 } }), env: {} });
  const second = await booked("chat", "mock/chat");
  expect(second.cost).toBe(10 * first.cost);
  expect(second.price).not.toBe(first.price);
  const store = new Database(join(folder, "state/weir.db"), { readonly: true });
  const rules = store.query<{ ref: string; rule: string }, []>("SELECT ref, rule FROM prices").all();
  store.close();
  const ruleOf = (ref: string | undefined) =>
    JSON.parse(rules.find((row) => row.ref === ref)!.rule) as object;
  expect(ruleOf(first.price)).toMatchObject({ input: 1_000_000, source: "config" });
  expect(ruleOf(second.price)).toMatchObject({ input: 10_000_000, source: "config" });
}, 60_000);

interface Explained {
  hold: number | null;
  price: object | null;
  tokens: { input: number; output: number };
  budgets: unknown[];
}

async function explain(model: string, more: object = {}): Promise<Explained> {
  const response = await fetch(`${weir.url}/v1/explain?format=chat-completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, max_tokens: 100, messages: [{ role: "user", content: "Hello" }], ...more }),
  });
  return ((await response.json()) as { cost: Explained }).cost;
}

test("explain shows the price, its source, and what the call would hold", async () => {
  await weir.reload({ ...load(PRICES), env: {} });
  const { tokens, ...cost } = await explain("chat/plain");
  expect(tokens.output).toBe(100);
  expect(cost).toMatchObject({
    ...{ hold: (tokens.input * 1 + 100 * 5) / 1e6, budgets: [], rates: [] },
    price: { input: 1, cacheRead: 0.1, output: 5, source: "config" },
  });
  await weir.reload({ ...load({}), env: {} });
  expect(await explain("chat/plain")).toMatchObject({ price: null, hold: null });
}, 60_000);

test("a call that asks for a dearer service tier holds its price", async () => {
  const usual = await explain("openai/gpt-5.4");
  const priority = await explain("openai/gpt-5.4", { service_tier: "priority" });
  // 2.5 and 15 dollars a million tokens, twice as much for the tier, and a tenth more in the dearest region.
  expect(usual.price).toMatchObject({ input: 2.5, output: 15 });
  const held = ({ tokens: { input, output } }: Explained) => (1.1 * (input * 2.5 + output * 15)) / 1e6;
  expect(usual.hold).toBeCloseTo(held(usual), 9);
  expect(priority.hold).toBeCloseTo(2 * held(priority), 9);
}, 60_000);
