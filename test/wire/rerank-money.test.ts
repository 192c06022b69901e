/** What rankings cost: searches of Cohere, tokens of the others, and budgets that count them. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { startBooked } from "../helpers/books.ts";
import { budget } from "../helpers/ledger.ts";
import * as hosts from "../helpers/rerank-hosts.ts";
import { type Handler, json, startUpstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const ALL = budgetAccount("all", 0);
/** Nano-dollars of a search at $2 for a thousand. */
const SEARCH = 2_000_000;

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

async function start(
  dialect: string,
  handler: Handler,
  price: object | undefined,
  limit?: number,
  more: object = {},
) {
  const upstream = startUpstream(handler);
  const host = { baseUrl: upstream.url, models: ["m"], does: { rerank: { [dialect]: "/rank" } } };
  const gateway = await startBooked(
    { providers: { host }, ...(price && { prices: { "host/m": price } }), ...more },
    limit === undefined ? [] : [budget("all", limit)],
  );
  running.push(gateway, upstream);
  const ask = (documents: readonly string[] = ["0.5 a", "0.7 b"]) =>
    fetch(`${gateway.url}/v2/rerank`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "host/m", query: "q", documents }),
    });
  return { gateway, upstream, ask };
}

const states = (calls: readonly { state: number }[]) => calls.map(({ state }) => CHARGE_STATES[state]!);

/** One search, after a moment. */
const one: Handler = async (request) => {
  await Bun.sleep(5);
  const answer = await hosts.cohere(request);
  if (!("body" in answer)) return answer;
  return { ...answer, body: String(answer.body).replace('"search_units":3', '"search_units":1') };
};

test("three searches of Cohere cost three searches, and Jina's tokens their price", async () => {
  const cohere = await start("cohere-rerank", hosts.cohere, { units: { search: 0.002 } });
  await cohere.ask();
  const { calls } = await cohere.gateway.finish();
  expect([calls[0]!.cost, states(calls)]).toEqual([3 * SEARCH, ["metered"]]);
  const jina = await start("jina-rerank", hosts.jina, { input: 0.02, output: 0 });
  await jina.ask();
  const booked = await jina.gateway.finish();
  expect([booked.calls[0]!.cost, booked.calls[0]!.input]).toEqual([77 * 20, 77]);
});

test("a host that counts no tokens has an estimate", async () => {
  const { ask, gateway } = await start("tei-rerank", hosts.tei, { input: 1, output: 0 });
  await ask();
  const { calls } = await gateway.finish();
  expect(states(calls)).toEqual(["estimated"]);
  expect(calls[0]!.cost).toBeGreaterThan(0);
  expect(calls[0]!.cost).toBe(calls[0]!.input * 1000);
});

test("a hard budget of three searches is never over in 200 calls at once", async () => {
  const { ask, gateway, upstream } = await start(
    "cohere-rerank",
    one,
    { units: { search: 0.002 } },
    3 * SEARCH,
  );
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask()));
  const served = answers.filter(({ status }) => status === 200).length;
  expect(served).toBe(3);
  expect(upstream.requests.length).toBe(3);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(await refused.json()).toMatchObject({ error: { code: "insufficient_quota" } });
  const { spent } = await gateway.finish();
  expect(spent.get(ALL)).toBe(3 * SEARCH);
});

test("a hard budget refuses a host whose searches have no price, and names the unit", async () => {
  const { ask, upstream } = await start("cohere-rerank", hosts.cohere, { input: 1, output: 1 }, SEARCH);
  const answer = await ask();
  expect(answer.status).toBe(403);
  expect(((await answer.json()) as { message: string }).message).toContain("{units: {search: ");
  expect(upstream.requests.length).toBe(0);
});

test("without a budget, searches without a price are booked as unpriced", async () => {
  const { ask, gateway } = await start("cohere-rerank", hosts.cohere, undefined);
  await ask();
  const { calls } = await gateway.finish();
  expect(states(calls)).toEqual(["unpriced"]);
});

test("a failed answer is tried again, and what was answered is paid once", async () => {
  let asked = 0;
  const flaky: Handler = (request) =>
    asked++ === 0 ? json({ message: "later" }, 503) : hosts.cohere(request);
  const { ask, gateway } = await start("cohere-rerank", flaky, { units: { search: 0.002 } });
  const answer = await ask();
  expect(answer.status).toBe(200);
  const { calls } = await gateway.finish();
  expect([calls[0]!.tries, calls[0]!.cost]).toEqual([2, 3 * SEARCH]);
});

test("a hundred documents are one search, and longer ones count as several", async () => {
  const { ask, upstream } = await start("cohere-rerank", one, { units: { search: 0.002 } }, 2 * SEARCH);
  // 150 documents of about 600 tokens: at least 300 chunks, so three searches.
  expect((await ask(Array.from({ length: 150 }, () => `0.1 ${"word ".repeat(600)}`))).status).toBe(429);
  expect(upstream.requests.length).toBe(0);
  expect((await ask(Array.from({ length: 100 }, (_, at) => `0.${at} a`))).status).toBe(200);
});
