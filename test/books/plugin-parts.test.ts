/** Columns, metrics and explanations of a dropped plugin in a gateway of two workers, whose keeper never loads the plugin. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { parsePrometheus } from "../helpers/prometheus.ts";
import { until } from "../helpers/serving.ts";
import { type RunningBooks, startBooks } from "./running.ts";

setDefaultTimeout(120_000);

const PLUGIN = `import { defineColumn, defineCounter, definePlugin } from "weir";
const worker = defineColumn({ name: "worker", schema: { type: "integer" } });
const seen = defineCounter({ name: "seen_total", help: "Calls.", labels: ["kind"] });
export default definePlugin({
  name: "counts",
  columns: [worker],
  metrics: [seen],
  hooks: {
    admit(call) {
      worker.set(call, process.pid);
      seen.add({ kind: call.format });
    },
    explain: ({ model }) => ({ would_count: model }),
  },
});`;

let weir: RunningBooks | undefined;
afterEach(() => weir?.end());

const CALLS = 24;

/** Asks over a connection of its own: the system gives it to one of the workers. */
async function askAnew(url: string): Promise<number> {
  const { status } = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: "hello" }] }),
    keepalive: false,
  });
  return status;
}

test("the metrics of both workers add up, and the records tell which worker had the call", async () => {
  weir = await startBooks({ workers: 2, plugins: { "counts.js": PLUGIN } });
  const { url, admin, api } = weir;
  for (let call = 0; call < CALLS; call++) expect(await askAnew(url)).toBe(200);
  const counted = async () =>
    parsePrometheus(await (await fetch(`${admin.url}/metrics`)).text()).get("weir_plugin_counts_seen_total")
      ?.samples ?? [];
  expect(await until(async () => (await counted())[0]?.value === CALLS)).toBe(true);
  expect((await counted()).map(({ labels }) => labels)).toEqual([{ kind: "chat-completions" }]);
  const listed = async () => (await api.ask("GET /calls", { query: { limit: 100, facts: true } })).calls;
  expect(await until(async () => (await listed()).length === CALLS)).toBe(true);
  const calls = (await listed()) as readonly { id: string; plugins?: Record<string, number> }[];
  const workers = new Set(calls.map(({ plugins }) => plugins?.["counts.worker"]));
  expect([...workers].sort()).toEqual([...weir.workers()].sort());
  const { code, output } = weir.run("logs", "--call", calls[0]!.id);
  expect(code).toBe(0);
  expect(output).toContain(`counts.worker ${calls[0]!.plugins!["counts.worker"]}`);
  const explained = await fetch(`${admin.url}/admin/v1/explain`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${admin.credential}` },
    body: JSON.stringify({
      format: "chat-completions",
      body: { model: "mock/echo", messages: [{ role: "user", content: "hello" }] },
    }),
  });
  expect(await explained.json()).toMatchObject({
    status: 200,
    explained: { plugins: { counts: { would_count: "mock/echo" } } },
  });
});
