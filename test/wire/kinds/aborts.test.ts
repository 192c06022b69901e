/** Editors cancel most of their calls: a client that leaves ends the request at the provider, and its hold goes back. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { budgetAccount } from "../../../src/ledger/record.ts";
import { startBooked } from "../../helpers/books.ts";
import { budget } from "../../helpers/ledger.ts";
import { sse, startUpstream, type UpstreamRequest } from "../../helpers/upstream.ts";

setDefaultTimeout(240_000);

const ALL = budgetAccount("all", 0);
const CALLS = 500;
/** Calls at once. */
const LANES = 4;
/**
 * The promise is 10 ms: a test allows ten times that on a busy machine, besides what clients need that leave the provider itself at
 * the same time.
 */
const MOST_MS = 100;

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

const chunk = (choice: object) =>
  `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, ...choice }] })}\n\n`;

const STREAMS: Record<string, string> = {
  completions: chunk({ text: "a ", logprobs: null, finish_reason: null }),
  fim: chunk({ delta: { content: "a " }, finish_reason: null }),
};

test.each<[name: string, path: string, does: JsonObject, body: JsonObject]>([
  [
    "completions",
    "/v1/completions",
    { completion: { completions: "/k" } },
    { prompt: "a", max_tokens: 1000, stream: true },
  ],
  [
    "fim",
    "/v1/fim/completions",
    { completion: { fim: "/k" } },
    { prompt: "a", max_tokens: 1000, stream: true },
  ],
  [
    "completions by fim",
    "/v1/completions",
    { completion: { fim: "/k" } },
    { prompt: "a", max_tokens: 1000, stream: true },
  ],
  [
    "whole completions",
    "/v1/completions",
    { completion: { completions: "/k" } },
    { prompt: "a", max_tokens: 1000 },
  ],
  ["rerank", "/v2/rerank", { rerank: { "cohere-rerank": "/k" } }, { query: "a", documents: ["b"] }],
  ["moderation", "/v1/moderations", { moderation: { moderations: "/k" } }, { input: "a" }],
])("%s: 500 clients that leave end their requests", async (_name, path, does, body) => {
  const isStream = body["stream"] === true;
  const piece = STREAMS[JSON.stringify(does).includes("fim") ? "fim" : "completions"]!;
  const arrivals = new Map<string, (request: UpstreamRequest) => void>();
  const upstream = startUpstream(async (request) => {
    if (request.method === "GET") return { status: 404 };
    const id = request.body.toString().match(/call-\d+/)![0];
    arrivals.get(id)!(request);
    if (isStream) return { ...sse([piece]), ending: "stall" };
    await request.settled;
    return { status: 200, body: "{}" };
  });
  const price = { input: 1, output: 1, units: { search: 0.000_1 } };
  // A stream that ends is charged for what it may have produced, about 70 tokens: there is room for that and for the holds of all
  // lanes, and not for the holds of 500 calls. Of a call without a stream nothing is known, and its hold is assumed to be spent.
  const limit = isStream ? 60_000_000 : 1_000_000_000;
  const gateway = await startBooked(
    { providers: { host: { baseUrl: upstream.url, models: ["m"], does } }, prices: { "host/m": price } },
    [budget("all", limit)],
  );
  running.push(gateway, upstream);
  const leave = async (url: string, call: number) => {
    const id = `call-${call}`;
    const arrived = new Promise<UpstreamRequest>((resolve) => arrivals.set(id, resolve));
    const left = new AbortController();
    const marked = Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name, value === "a" ? id : value]),
    );
    const asking = fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "host/m", ...marked }),
      signal: left.signal,
    });
    asking.catch(() => {});
    // A refused call never arrives.
    const refused = asking.then(async (answer) => {
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
      return answer;
    });
    const request = await Promise.race([arrived, refused.then(() => arrived)]);
    if (isStream) await (await refused).body!.getReader().read();
    else refused.catch(() => {});
    const leftAt = performance.now();
    left.abort();
    await request.settled;
    return request.settledAt! - leftAt;
  };
  const took: number[] = [];
  const bare: number[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      while (next < CALLS) {
        const call = next++;
        took.push(await leave(gateway.url + path, call));
        bare.push(await leave(`${upstream.url}/k`, CALLS + call));
      }
    }),
  );
  expect(took).toHaveLength(CALLS);
  expect(p99(took)).toBeLessThan(p99(bare) + MOST_MS);
  const { calls, spent } = await gateway.finish();
  expect(calls).toHaveLength(CALLS);
  expect(calls.reduce((sum, { cost }) => sum + cost, 0)).toBe(spent.get(ALL) ?? 0);
});

const p99 = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99) - 1]!;
