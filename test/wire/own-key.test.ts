/** `GET /v1/key`: a client reads the limits, budgets and figures of its own key, and nothing of others. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { type GatewayOptions, type RunningGateway, startGateway, TARGET } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { json, startUpstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const ALICE = "alice-key-1234567890abcdef";
const BOB = "bob-key-1234567890abcdef";

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

const KEYS = [
  {
    name: "alice",
    key: ALICE,
    path: "/eng/search",
    endpoints: ["chat"],
    maxTokens: 1000,
    expires: "2099-01-01",
    budget: "1/day",
    rpm: 60,
  },
  { name: "bob-the-other", key: BOB, path: "/eng/secret", budget: "7/month", rpm: 77 },
];

const BUDGETS = {
  "search-team": { on: "/eng/search", limit: 5, every: "month" },
  engineering: { on: "/eng", limit: 40, every: "month" },
  silent: { on: "/eng/search", limit: 3, every: "day", mode: "watch" },
  "secret-project": { on: "/eng/secret", limit: 9, every: "month" },
  conversation: { on: "session", limit: 2, every: "total" },
  "elsewhere-only": { on: { provider: "elsewhere" }, limit: 2, every: "total" },
};

const answer = () =>
  json({
    id: "c1",
    object: "chat.completion",
    created: 1,
    model: "small",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
  });

/** A call of 1000 tokens of input and 500 of output costs 2 thousandths of a dollar. */
async function start(
  config: Record<string, unknown> = {},
  options: Pick<GatewayOptions, "env" | "target"> = {},
): Promise<RunningGateway> {
  const upstream = startUpstream(answer);
  const host = { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["small"] };
  const gateway = await startGateway({
    config: {
      providers: { host, elsewhere: { ...host, models: ["far"] } },
      prices: { "host/*": { input: 1, output: 2 } },
      keys: KEYS.map((key) => ({ ...key, providers: ["host"] })),
      budgets: BUDGETS,
      ...config,
    },
    ...options,
  });
  running.push(gateway, upstream);
  return gateway;
}

interface OwnKey {
  limits: Record<string, unknown>[];
  budgets: Record<string, unknown>[];
  usage: { from: string; models: Record<string, unknown>[] };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function read(
  { url }: RunningGateway,
  headers: Record<string, string> = bearer(ALICE),
): Promise<OwnKey> {
  const response = await fetch(`${url}/v1/key`, { headers });
  expect([response.status, response.ok ? "" : await response.text()]).toEqual([200, ""]);
  return (await response.json()) as OwnKey;
}

const chat = ({ url }: RunningGateway, key: string) =>
  openaiClient(url, { apiKey: key }).chat.completions.create({
    model: "small",
    messages: [{ role: "user", content: "hi" }],
    max_tokens: 500,
  });

/** Two calls of one key and one of the other, and then what the first key reads when all is booked. */
async function used(gateway: RunningGateway): Promise<OwnKey> {
  await chat(gateway, ALICE);
  await chat(gateway, ALICE);
  await chat(gateway, BOB);
  for (let tries = 0; tries < 200; tries++) {
    const other = await read(gateway, bearer(BOB));
    const own = await read(gateway);
    if (callsOf(own) === 2 && callsOf(other) === 1 && isSettled(own)) return own;
    await Bun.sleep(25);
  }
  throw new Error("The calls were not booked within five seconds.");
}

const callsOf = ({ usage }: OwnKey) => usage.models[0]?.["calls"];
/** A worker that has ended a call still reports what the call held. */
const isSettled = ({ budgets }: OwnKey) => budgets.some(({ on, left }) => on === "key" && left === 0.996);

const named = (entries: Record<string, unknown>[], name: string) =>
  entries.find((entry) => entry["name"] === name);

test("a client reads the figures of its own key after two priced calls", async () => {
  const gateway = await start();
  const own = await used(gateway);
  expect(own).toMatchObject({
    id: "config:alice",
    name: "alice",
    path: "/eng/search",
    scopes: { endpoints: ["chat"], providers: ["host"], max_tokens: 1000, server_tools: true },
    expires_at: "2099-01-01T00:00:00.000Z",
  });
  expect(own.usage.models).toEqual([
    { model: "small", calls: 2, tokens: { input: 2000, output: 1000 }, cost: 0.004 },
  ]);
  expect(Date.now() - Date.parse(own.usage.from)).toBeLessThanOrEqual(25 * 3_600_000);
  const daily = own.budgets.find(({ on }) => on === "key")!;
  expect(daily).toMatchObject({ window: "day", zone: "UTC", limit: 1, spent: 0.004, left: 0.996 });
  const midnight = new Date();
  midnight.setUTCHours(24, 0, 0, 0);
  expect(Math.abs(Date.parse(daily["resets_at"] as string) - Number(midnight))).toBeLessThanOrEqual(
    86_400_000,
  );
  expect(own.limits).toHaveLength(1);
  expect(own.limits[0]).toMatchObject({ on: "key", unit: "rpm", limit: 60 });
  const left = own.limits[0]!["left"] as number;
  expect(left).toBeGreaterThanOrEqual(57);
  expect(left).toBeLessThan(60);
});

test("a client reads nothing of other keys and paths, and of the budgets above its path what is left", async () => {
  const gateway = await start();
  const own = await used(gateway);
  expect(JSON.stringify(own)).not.toMatch(/bob|secret|silent|elsewhere|77/);
  expect(named(own.budgets, "search-team")).toMatchObject({ limit: 5, spent: 0.004, left: 4.996 });
  const { resets_at, ...above } = named(own.budgets, "engineering")!;
  expect(Date.parse(resets_at as string)).toBeGreaterThan(Date.now());
  expect(above).toEqual({ name: "engineering", on: "path", window: "month", zone: "UTC", left: 39.994 });
  expect(named(own.budgets, "conversation")).toEqual({
    ...{ name: "conversation", on: "session", window: "total", zone: "UTC", resets_at: null },
  });
});

test("with `ledger.tell` off a client reads no amounts of budgets", async () => {
  const gateway = await start({ ledger: { tell: false } });
  await chat(gateway, ALICE);
  const { budgets } = await read(gateway);
  expect(budgets).toHaveLength(4);
  for (const budget of budgets)
    expect(Object.keys(budget)).toEqual(["name", "on", "window", "zone", "resets_at"]);
});

test("the key may be in the header of each SDK, and scopes of endpoints do not matter", async () => {
  const gateway = await start();
  const openai = await openaiClient(gateway.url, { apiKey: ALICE }).get<OwnKey>("/key");
  const anthropic = await anthropicClient(gateway.url, { apiKey: ALICE }).get<OwnKey>("/v1/key");
  expect(openai).toMatchObject({ name: "alice" });
  expect(anthropic).toMatchObject({ name: "alice" });
});

test("without a key the answer is 401, and a gateway without keys answers 404", async () => {
  const gateway = await start();
  expect((await fetch(`${gateway.url}/v1/key`)).status).toBe(401);
  expect((await fetch(`${gateway.url}/v1/key`, { headers: bearer("none") })).status).toBe(401);
  const open = await start({ keys: [], budgets: {} });
  const response = await fetch(`${open.url}/v1/key`, { headers: bearer("any") });
  expect([response.status, await response.text()]).toEqual([
    404,
    expect.stringContaining("This gateway has no keys"),
  ]);
});

/** Several workers are processes. */
const SEPARATE = TARGET === "source" ? "process" : TARGET;

test("several workers answer with the figures of all", async () => {
  const gateway = await start({}, { target: SEPARATE, env: { WEIR_WORKERS: "2" } });
  const own = await used(gateway);
  expect(own.budgets.find(({ on }) => on === "key")).toMatchObject({ limit: 1, spent: 0.004, left: 0.996 });
});
