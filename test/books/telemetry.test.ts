/** Traces and metrics of a gateway whose keeper is a process of its own. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readMetrics } from "../helpers/otlp.ts";
import { parsePrometheus, valueOf } from "../helpers/prometheus.ts";
import { ask, until } from "../helpers/serving.ts";
import { startReceiver } from "../helpers/telemetry.ts";
import { json, startUpstream } from "../helpers/upstream.ts";
import { type BooksOptions, type RunningBooks, startBooks } from "./running.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(180_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function receiver(status?: () => number) {
  const started = startReceiver(status);
  cleanups.push(() => started.stop());
  return started;
}

function upstream(handler: Parameters<typeof startUpstream>[0]) {
  const started = startUpstream(handler);
  cleanups.push(() => started.stop());
  return started;
}

async function start(
  config: Record<string, unknown>,
  more: Partial<BooksOptions> = {},
): Promise<RunningBooks> {
  const started = await startBooks({ workers: 2, config, ...more });
  cleanups.push(() => started.end());
  return started;
}

async function scrape({ admin }: RunningBooks): Promise<string> {
  return (await fetch(`${admin.url}/metrics`)).text();
}

const CANARY = "canary-4be1c07f";

/** One call of each dialect, each with the canary in everything that a client writes. */
const DIALECTS: readonly { path: string; body: (model: string) => object }[] = [
  {
    path: "/v1/chat/completions",
    body: (model) => ({
      model,
      messages: [
        { role: "system", content: CANARY },
        { role: "user", content: `Repeat ${CANARY}` },
      ],
      tools: [{ type: "function", function: { name: "f", description: CANARY, parameters: {} } }],
    }),
  },
  {
    path: "/v1/messages",
    body: (model) => ({
      model,
      max_tokens: 50,
      system: CANARY,
      messages: [{ role: "user", content: `Repeat ${CANARY}` }],
    }),
  },
  {
    path: "/v1/responses",
    body: (model) => ({ model, store: false, instructions: CANARY, input: `Repeat ${CANARY}` }),
  },
  {
    path: "/v1beta/models/MODEL:generateContent",
    body: () => ({ contents: [{ role: "user", parts: [{ text: `Repeat ${CANARY}` }] }] }),
  },
  { path: "/v1/embeddings", body: (model) => ({ model, input: `Repeat ${CANARY}` }) },
];

test("no prompt and no answer is in a span, a metric, an alert, the log or the store", async () => {
  const host = upstream(() => {
    const message = { role: "assistant", content: CANARY };
    return json({ ...completion(), choices: [{ index: 0, message, finish_reason: "stop" }] });
  });
  const broken = upstream(() => json({ error: { message: "out of order" } }, 500));
  const collector = receiver();
  const weir = await start({
    traces: { to: collector.url },
    metrics: { otlp: true, keys: true },
    alerts: [{ to: `${collector.url}/hook` }],
    retries: { attempts: 1 },
    providers: {
      host: { baseUrl: `${host.url}/v1`, speaks: "chat-completions", models: ["m"] },
      broken: { baseUrl: `${broken.url}/v1`, speaks: "messages", models: ["m"] },
    },
  });
  const answered: string[] = [];
  for (const model of ["mock/echo", "host/m", "broken/m", "nowhere/m"])
    for (const { path, body } of DIALECTS)
      for (const stream of [false, true]) {
        const isInPath = path.includes("MODEL");
        const isSse = isInPath && stream;
        const url = path
          .replace("MODEL", model)
          .replace(":generate", isSse ? ":streamGenerate" : ":generate");
        const response = await fetch(`${weir.url}${url}${isSse ? "?alt=sse" : ""}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            ...body(model),
            ...(stream && !isInPath && path !== "/v1/embeddings" && { stream }),
          }),
        });
        answered.push(`${response.status} ${(await response.text()).includes(CANARY)}`);
      }
  // Answers with the canary came from the mock and from the host.
  expect(answered.filter((text) => text === "200 true").length).toBeGreaterThanOrEqual(12);
  const calls = answered.length;
  const records = async () => valueOf(parsePrometheus(await scrape(weir)), "weir_records_total");
  expect(await until(async () => (await records()) === calls, 20_000)).toBe(true);
  const scraped = await scrape(weir);
  weir.signal("SIGTERM");
  await weir.exited;

  expect(collector.spans().filter(({ kind }) => kind === 2)).toHaveLength(calls);
  const [metrics] = collector.received.filter(({ path }) => path === "/v1/metrics");
  expect(new Set(readMetrics(metrics!.body).map(({ metric }) => metric))).toEqual(
    new Set([
      "gen_ai.client.token.usage",
      "gen_ai.client.operation.duration",
      "gen_ai.client.operation.time_to_first_chunk",
    ]),
  );
  expect(collector.received.some(({ path }) => path === "/hook")).toBe(true);
  const sent = collector.received.map(({ body }) => body).join("\n");
  const files = readdirSync(weir.state, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
  const places = { sent, scraped, log: weir.log.join("\n"), store: files.join("\n") };
  const found = Object.entries(places).filter(([, text]) => text.includes(CANARY));
  expect(found.map(([place]) => place)).toEqual([]);
});
