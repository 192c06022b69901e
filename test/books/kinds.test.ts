/** Calls of the kinds of models over two workers: one budget of one search, the books afterwards, metrics, and a revoked key. */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import { KIND_ENDPOINTS } from "../helpers/kind-endpoints.ts";
import { parsePrometheus } from "../helpers/prometheus.ts";
import { until } from "../helpers/serving.ts";
import { json, startUpstream } from "../helpers/upstream.ts";
import { startBooks } from "./running.ts";

setDefaultTimeout(180_000);

/** Nano-dollars of a search at $2 for a thousand. */
const SEARCH = 2_000_000;

function startCohere() {
  return startUpstream(async ({ method }) => {
    if (method === "GET") return json({ models: [] });
    await Bun.sleep(5);
    return json({
      ...{ id: "c", results: [{ index: 0, relevance_score: 1 }] },
      meta: { billed_units: { search_units: 1 } },
    });
  });
}

const host = (baseUrl: string) => ({ baseUrl, models: ["m"], does: { rerank: { "cohere-rerank": "/k" } } });

test("a hard budget of one search serves one of 200 calls at once over two workers, and the books hold", async () => {
  const upstream = startCohere();
  const weir = await startBooks({
    workers: 2,
    config: {
      providers: { host: host(upstream.url) },
      prices: { "host/m": { units: { search: 0.002 } } },
    },
  });
  try {
    const key = weir.createKey("one", "--budget", "0.002", "--hard");
    const ask = async (): Promise<number> => {
      for (let tries = 0; ; tries++) {
        const response = await fetch(`${weir.url}/v2/rerank`, {
          method: "POST",
          // A connection of its own may reach either worker.
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${key}`,
            connection: "close",
          },
          body: JSON.stringify({ model: "host/m", query: "q", documents: ["a"] }),
        });
        const text = await response.text();
        // The keeper of a busy machine may answer late.
        if (!text.includes("ledger_unavailable") || tries === 60) return response.status;
        await Bun.sleep(250);
      }
    };
    const statuses = await Promise.all(Array.from({ length: 200 }, ask));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(upstream.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
    const settled = async () => (await weir.budget("one")).windows[0]?.held === 0;
    expect(await until(settled, 30_000)).toBe(true);
    expect((await weir.budget("one")).windows[0]).toMatchObject({ spent: SEARCH, assumed: 0, overrun: 0 });
    expect(weir.run("audit")).toMatchObject({ code: 0 });
  } finally {
    await weir.end();
    upstream.stop();
  }
});

test("metrics count calls of each endpoint and units, and a revoked key is refused at each in its shape", async () => {
  const upstream = startCohere();
  const weir = await startBooks({
    workers: 2,
    config: {
      providers: { host: host(upstream.url) },
      prices: { "host/m": { units: { search: 0.002 } }, "mock/*": { input: 1, output: 1 } },
    },
  });
  try {
    const key = weir.createKey("short");
    const ask = (path: string, body: JsonObject) =>
      fetch(weir.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
    for (const { path, model, body } of KIND_ENDPOINTS)
      expect((await ask(path, { model, ...body("a red cat") })).status).toBe(200);
    for (let call = 0; call < 3; call++)
      await ask("/v2/rerank", { model: "host/m", query: "q", documents: ["a"] });
    const samples = async () => {
      const families = parsePrometheus(await (await fetch(`${weir.admin.url}/metrics`)).text());
      return (name: string) => families.get(name)?.samples ?? [];
    };
    const searches = async () =>
      (await samples())("weir_units_total")
        .filter(({ labels }) => labels["provider"] === "host")
        .map(({ labels, value }) => ({ ...labels, value }));
    const counted = { provider: "host", model: "m", unit: "search", value: 3 };
    await until(async () => (await searches())[0]?.value === 3, 30_000);
    expect(await searches()).toEqual([counted]);
    const calls = (await samples())("weir_calls_total");
    const formats = new Set(calls.map(({ labels }) => labels["format"]!));
    expect([...formats].toSorted()).toEqual(
      [...new Set(KIND_ENDPOINTS.map(({ format }) => format))].toSorted(),
    );
    expect(weir.run("keys", "revoke", "short", "--yes").code).toBe(0);
    const refusals = async () =>
      Promise.all(
        KIND_ENDPOINTS.map(async ({ path, model, body, errorIn }) => {
          const response = await ask(path, { model, ...body("a red cat") });
          const { message } = errorIn((await response.json()) as JsonObject);
          return [path, response.status, typeof message];
        }),
      );
    // Each worker learns of it by itself.
    await until(async () => (await refusals()).every(([, status]) => status === 401), 30_000);
    expect(await refusals()).toEqual(KIND_ENDPOINTS.map(({ path }) => [path, 401, "string"]));
  } finally {
    await weir.end();
    upstream.stop();
  }
});
