/** The response cache and the books: an answer from memory is free, and a worker that reloads forgets it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallEntry, Calls, MissingPrices, Proof, UsageReport } from "../../../operator/index.ts";
import { type RunningGateway, runningGateways } from "../../../run/run-file.ts";
import { anthropicClient, openaiClient } from "../../../../test/helpers/sdk.ts";
import { json, startUpstream, until, type Upstream } from "../../../../test/helpers/upstream.ts";
import { readStore, type RunningBooks, startBooks } from "../../../../test/books/running.ts";

setDefaultTimeout(120_000);

const KEY = "ci-key-1234567890abcdef";
const GREEDY: object = { temperature: 0 };
let weir: RunningBooks;
let upstream: Upstream;
let config: Record<string, unknown>;

beforeAll(async () => {
  upstream = startUpstream(() =>
    json({
      ...{ id: "c1", object: "chat.completion", created: 1, model: "big" },
      choices: [{ index: 0, message: { role: "assistant", content: "A dam." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 },
    }),
  );
  config = {
    providers: {
      host: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["big", "small"] },
    },
    prices: { "host/*": { input: 10, output: 20 } },
    // 1,000 tokens for 10 and 500 for 20 dollars a million: two cents.
    budgets: { all: { on: "all", limit: 0.05, every: "total" } },
    rates: { all: { on: "all", tpm: 100_000 } },
    keys: [{ name: "ci", key: KEY }],
    cache: { keys: ["ci"] },
  };
  weir = await startBooks({ workers: 1, config });
});

afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

const clients = () => {
  const options = { apiKey: KEY, headers: { "x-weir-cache": "use" } };
  return { openai: openaiClient(weir.url, options), anthropic: anthropicClient(weir.url, options) };
};
const body = { model: "host/big", max_tokens: 600, ...GREEDY };
const messages = [{ role: "user" as const, content: "What is a weir?" }];

async function stored(calls: number): Promise<void> {
  const count = () => readStore(weir.state, (one) => one("SELECT count(*) AS value FROM calls"));
  await until(
    () => count() >= calls,
    10_000,
    () => `the store has ${count()} of ${calls} calls`,
  );
}

test("a hit is free, counts against no budget and no limit, and is a call of the provider response-cache", async () => {
  const { openai, anthropic } = clients();
  const ask = () => openai.chat.completions.create({ ...body, messages }).withResponse();
  const told: (string | null)[] = [];
  for (let count = 0; count < 5; count++) {
    const { response } = await ask();
    told.push(response.headers.get("x-weir-cache"));
  }
  const { response } = await anthropic.messages.create({ ...body, messages }).withResponse();
  told.push(response.headers.get("x-weir-cache"));
  expect(told).toEqual(["miss", "hit", "hit", "hit", "hit", "hit"]);
  await stored(6);

  const { calls } = await weir.api.send<Calls>("GET", "/calls");
  const ofCache = calls.filter(({ attempts }) => attempts[0]!.provider === "response-cache");
  expect([calls.length, ofCache.length]).toEqual([6, 5]);
  const { attempts } = await weir.api.send<CallEntry>("GET", `/calls/${ofCache[0]!.id}`);
  expect(attempts).toMatchObject([
    { charge: { state: "free", cost: 0 }, usage: { input: 1_000, output: 500 } },
  ]);

  const { rows } = await weir.api.send<UsageReport>("GET", "/usage?by=provider");
  expect(Object.fromEntries(rows.map(({ group, cost }) => [group.provider, cost]))).toEqual({
    host: 20_000_000,
    "response-cache": 0,
  });
  // A third paid call would exceed the budget.
  expect((await weir.budget("all")).windows).toMatchObject([{ spent: 20_000_000, held: 0 }]);
});

test("the books hold with hits in them, and no price is missing for them", async () => {
  const proof = await weir.api.send<Proof>("GET", "/audit/books");
  expect(proof.checks.filter(({ holds }) => !holds)).toEqual([]);
  expect(await weir.api.send<MissingPrices>("GET", "/prices/missing")).toEqual({ models: [] });
});

test("no text of a prompt or an answer is in the store, the log or the metrics", async () => {
  const found = await Bun.$`grep -rlE "What is a weir|A dam" ${weir.state}`.nothrow().text();
  expect([found, weir.log.join("\n").match(/What is a weir|A dam/)]).toEqual(["", null]);
  const [{ admin }] = runningGateways({ XDG_RUNTIME_DIR: join(weir.folder, "run") }) as [RunningGateway];
  const metrics = await (await fetch(`${admin!.url}/metrics`)).text();
  expect(metrics).toContain("response-cache");
  expect(metrics).not.toMatch(/What is a weir|A dam/);
});

test("the OpenAPI document has the header, in requests and answers", async () => {
  const response = await fetch(`${weir.url}/openapi.json`, { headers: { authorization: `Bearer ${KEY}` } });
  const { paths } = (await response.json()) as {
    paths: Record<
      string,
      Record<string, { parameters: { name: string }[]; responses: Record<string, { headers: object }> }>
    >;
  };
  const { parameters, responses } = paths["/v1/messages"]!["post"]!;
  expect(parameters.map(({ name }) => name)).toContain("x-weir-cache");
  expect(Object.keys(responses["200"]!.headers)).toContain("x-weir-cache");
});

test("a reload empties the cache", async () => {
  const ask = async () =>
    (
      await clients()
        .openai.chat.completions.create({ ...body, messages })
        .withResponse()
    ).response.headers.get("x-weir-cache");
  expect(await ask()).toBe("hit");
  writeFileSync(join(weir.folder, "weir.yaml"), JSON.stringify({ ...config, budgets: {} }));
  const { code, output } = weir.run("reload");
  expect([code, output]).toEqual([0, expect.any(String)]);
  expect(await ask()).toBe("miss");
});

test("an answer is not that of another model behind the name", async () => {
  const ask = () =>
    clients()
      .openai.chat.completions.create({ ...body, model: "named", messages })
      .withResponse();
  const told = async () => {
    const { headers } = (await ask()).response;
    return [headers.get("x-weir-cache"), headers.get("x-weir-provider")];
  };
  await weir.api.send("POST", "/stored-models", { body: { name: "named", to: "host/big" } });
  expect([await told(), await told()]).toEqual([
    ["miss", "host"],
    ["hit", "response-cache"],
  ]);
  await weir.api.send("PATCH", "/stored-models/named", { body: { to: "host/small" } });
  expect(await told()).toEqual(["miss", "host"]);
  expect(JSON.parse(Buffer.from(upstream.requests.at(-1)!.body).toString())).toMatchObject({
    model: "small",
  });
});

test("each worker has a cache of its own: with two of them a request is a miss twice at most", async () => {
  const two = await startBooks({ workers: 2, config: { ...config, budgets: {} } });
  const before = upstream.requests.length;
  try {
    const told: (string | null)[] = [];
    for (let count = 0; count < 20; count++) {
      const response = await fetch(`${two.url}/v1/chat/completions`, {
        method: "POST",
        // Each connection may reach another worker.
        headers: {
          ...{ authorization: `Bearer ${KEY}`, connection: "close", "x-weir-cache": "use" },
          "content-type": "application/json",
        },
        body: JSON.stringify({ ...body, messages }),
      });
      await response.arrayBuffer();
      told.push(response.headers.get("x-weir-cache"));
    }
    const misses = told.filter((each) => each === "miss").length;
    expect(misses).toBeWithin(1, 3);
    expect([upstream.requests.length - before, told.filter((each) => each === "hit").length]).toEqual([
      misses,
      20 - misses,
    ]);
  } finally {
    await two.end();
  }
});
