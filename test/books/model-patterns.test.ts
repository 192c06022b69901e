/** A model pattern means the same in budgets, limits, scopes, fallbacks, prices and filters, and one that matches nothing is told. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { until } from "../helpers/serving.ts";
import { askModel, type RunningBooks, startBooks } from "./running.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(120_000);

/** The names of one model: asked through an alias, the provider's, and with its provider. */
const MATCHING = ["quick*", "quick", "big-*", "big-1", "host/big-*", "host/*", "*/big-1", "*"];
const OTHERS = ["small-*", "big", "big-1/*", "other/*", "host/small-*", "uick*"];

let weir: RunningBooks;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream((request) => {
    if (!request.path.endsWith("/chat/completions")) return json({ object: "list", data: [] });
    const { model } = JSON.parse(request.body.toString()) as { model: string };
    return model === "failing" ? json({ error: { message: "no" } }, 500) : json(completion());
  });
  const host = {
    ...{ baseUrl: `${upstream.url}/v1`, speaks: "chat-completions" },
    models: ["big-1", "small-1", "failing", "deep/big-1"],
  };
  const budgets = [...MATCHING, ...OTHERS].map((model, at) => [
    `b${at}`,
    { on: { model }, limit: 100, every: "total" },
  ]);
  weir = await startBooks({
    workers: 1,
    config: {
      providers: { host },
      aliases: { quick: "host/big-1", "host/old-*": "host/big-1" },
      fallbacks: { failing: ["host/small-1"] },
      models: { "bgi-*": { set: { temperature: 0.5 } } },
      prices: { "big-*": { input: 0, output: 0, request: 0.01 }, "*": 0 },
      budgets: Object.fromEntries(budgets),
      retries: { attempts: 2 },
    },
  });
});

afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

const ask = (model: string, key?: string) => askModel(weir.url, model, key);

async function spentBy(): Promise<Record<string, number>> {
  const { output } = weir.run("budgets", "list", "--json");
  const list = JSON.parse(output) as { on: { what: string }; windows: { spent: number }[] }[];
  return Object.fromEntries(list.map(({ on, windows }) => [on.what, windows[0]?.spent ?? 0]));
}

test("budgets count a model by each of its names, and a price holds by the bare name", async () => {
  expect((await ask("quick")).status).toBe(200);
  await until(async () => (await spentBy())["*"]! > 0, 10_000);
  const spent = await spentBy();
  for (const pattern of MATCHING) expect([pattern, spent[pattern]]).toEqual([pattern, 10_000_000]);
  for (const pattern of OTHERS) expect([pattern, spent[pattern]]).toEqual([pattern, 0]);
});

test("calls are found by each of the names, and a usage report by the provider's", async () => {
  const found = (pattern: string) => {
    const { output } = weir.run("logs", "--json", "--model", pattern);
    return (JSON.parse(output) as unknown[]).length;
  };
  for (const pattern of MATCHING) expect([pattern, found(pattern)]).toEqual([pattern, 1]);
  for (const pattern of OTHERS) expect([pattern, found(pattern)]).toEqual([pattern, 0]);
  const calls = (pattern: string) => {
    const { output } = weir.run("usage", "--json", "--model", pattern);
    return (JSON.parse(output) as { total: { calls: number } }).total.calls;
  };
  for (const pattern of ["big-*", "big-1", "host/*"]) expect([pattern, calls(pattern)]).toEqual([pattern, 1]);
  expect(calls("small-*")).toBe(0);
});

test("a name with its provider keeps its meaning unless an alias pattern names the provider too", async () => {
  const answer = await ask("host/old-3");
  expect([answer.status, answer.headers.get("x-weir-model")]).toEqual([200, "big-1"]);
});

test("a fallback for the bare name serves the name with its provider", async () => {
  const answer = await ask("host/failing");
  expect([answer.status, answer.headers.get("x-weir-model")]).toEqual([200, "small-1"]);
});

test("a rule that matches no known model is told when it is made, and is made", () => {
  const told = (...args: string[]) => weir.run(...args).output;
  const sentence = (where: string, pattern: string) =>
    `weir: ${where}: no model that weir knows matches "${pattern}"; see weir models.`;
  expect(told("budgets", "set", "typo", "5", "--on", "model:gtp-*")).toContain(
    sentence("the budget typo", "gtp-*"),
  );
  expect(told("budgets", "set", "right", "5", "--on", "model:gpt-*")).not.toContain("no model");
  expect(told("budgets", "set", "own", "5", "--on", "model:host/big-*")).not.toContain("no model");
  expect(told("rates", "set", "typo", "--rpm", "5", "--on", "model:hots/*")).toContain(
    sentence("the rate limit typo", "hots/*"),
  );
  expect(told("keys", "create", "typo", "--models", "quick,cluade-*")).toContain(
    sentence("the key typo", "cluade-*"),
  );
  expect(told("budgets", "list")).toContain("typo");
});

test("the start of a gateway and weir check tell such a rule of the config", async () => {
  const sentence = /the budget b\d+: no model that weir knows matches \\?"uick\*/;
  expect(await until(() => weir.log.some((line) => sentence.test(line)), 20_000)).toBe(true);
  expect(weir.log.some((line) => /matches .*small/.test(line))).toBe(false);
  expect(weir.run("check", "--offline").output).toMatch(sentence);
  expect(weir.run("check", "--offline").output).toContain('models: no model that weir knows matches "bgi-*"');
});

test("a scope permits a model by each of its names", async () => {
  const create = async (name: string, pattern: string) => {
    const body = { name, scopes: { models: [pattern] } };
    return (await weir.api.send<{ secret: string }>("POST", "/keys", { body })).secret;
  };
  for (const [at, pattern] of [...MATCHING, ...OTHERS].entries()) {
    const key = await create(`scoped-${at}`, pattern);
    const wanted = MATCHING.includes(pattern) ? 200 : 403;
    expect([pattern, (await ask("quick", key)).status]).toEqual([pattern, wanted]);
    const listed = await fetch(`${weir.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await listed.json()) as { data: { id: string }[] };
    expect([pattern, data.some(({ id }) => id === "quick")]).toEqual([pattern, wanted === 200]);
  }
  expect((await ask("host/small-1", await create("narrow", "big-1"))).status).toBe(403);
  // A fallback is permitted only by its own names.
  expect((await ask("failing", await create("no-fallback", "failing"))).status).toBe(500);
  // The slash of a provider's own name is no provider: `deep/*` permits nothing of host.
  expect((await ask("host/deep/big-1", await create("deep", "deep/*"))).status).toBe(403);
});
