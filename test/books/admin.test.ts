/** The admin API and the metrics of a running gateway with several workers. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { runningGateways } from "../../src/run/run-file.ts";
import type { AuditReport, UsageReport } from "../../src/keeper/reports/shapes.ts";
import { TARGET } from "../helpers/gateway.ts";
import { parsePrometheus, valueOf } from "../helpers/prometheus.ts";
import { serve, until } from "../helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { type RunningBooks, startBooks } from "./running.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(120_000);

let weir: RunningBooks;
let upstream: Upstream;
let admin: { url: string; credential: string };

beforeAll(async () => {
  upstream = startUpstream((request) => {
    if (!request.path.endsWith("/chat/completions")) return json({ object: "list", data: [] });
    const { model } = JSON.parse(request.body.toString()) as { model: string };
    if (model === "broken") return json({ error: { message: "It is broken." } }, 500);
    if (!["m", "unpriced"].includes(model)) return json({ error: { message: "no such model" } }, 404);
    return json(completion());
  });
  const host = {
    baseUrl: `${upstream.url}/v1`,
    speaks: "chat-completions",
    models: ["m", "broken", "unpriced"],
  };
  weir = await startBooks({
    workers: 2,
    config: {
      providers: { host },
      prices: { "host/m": { input: 1, output: 2, request: 0.001 } },
      retries: { attempts: 2 },
      budgets: { all: { on: "all", limit: 1_000, every: "month" } },
    },
  });
  admin = entryOf(weir.folder)!;
});

afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

function entryOf(folder: string) {
  return runningGateways({ XDG_RUNTIME_DIR: `${folder}/run` }).find((entry) => entry.admin)?.admin;
}

async function call(model: string): Promise<number> {
  const response = await fetch(`${weir.url}/v1/chat/completions`, {
    method: "POST",
    // Each connection may reach another worker.
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "hello" }] }),
  }).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status ?? 0;
}

async function scrape() {
  const response = await fetch(`${admin.url}/metrics`);
  return parsePrometheus(await response.text());
}

const usage = () => weir.api.send<UsageReport>("GET", "/usage");

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return fetch(`${admin.url}/admin/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${admin.credential}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

test("the metrics equal the books after calls with all kinds of endings", async () => {
  const models = ["host/m", "host/m", "host/m", "host/broken", "host/unpriced", "host/made-up", "nowhere/x"];
  const calls = Array.from({ length: 140 }, (_, index) => call(models[index % models.length]!));
  const statuses = await Promise.all(calls);
  expect(statuses.filter((status) => status === 200)).toHaveLength(80);
  expect(await until(async () => (await usage()).total.calls === 140, 5_000)).toBe(true);
  const [families, { total }] = [await scrape(), await usage()];
  expect(valueOf(families, "weir_calls_total")).toBe(total.calls);
  expect(valueOf(families, "weir_records_total")).toBe(total.calls);
  expect(valueOf(families, "weir_attempts_total")).toBe(total.attempts);
  expect(Math.round(valueOf(families, "weir_cost_dollars_total") * 1e9)).toBe(total.cost);
  expect(valueOf(families, "weir_tokens_total", { type: "output" })).toBe(total.output);
  expect(valueOf(families, "weir_tokens_total", { type: "input" })).toBe(total.input);
  expect(valueOf(families, "weir_unpriced_calls_total")).toBe(20);
  expect(total.cost).toBeGreaterThan(0);
  const spent = async () => {
    const amount = valueOf(await scrape(), "weir_budget_dollars", { budget: "all", part: "spent" });
    return Math.round(amount * 1e9);
  };
  expect(await until(async () => (await spent()) === total.cost, 5_000)).toBe(true);
  const models_ = families.get("weir_calls_total")!.samples.map(({ labels }) => labels["model"]);
  expect(models_).not.toContain("made-up");
  expect((await weir.api.send<AuditReport>("GET", "/audit/books")).holds).toBe(true);
});

test("the median of ten scrapes during calls takes at most 400 ms", async () => {
  const running = Array.from({ length: 200 }, () => call("host/m"));
  const times: number[] = [];
  for (let count = 0; count < 10; count++) {
    const began = performance.now();
    await scrape();
    times.push(performance.now() - began);
  }
  await Promise.all(running);
  expect(times.sort((a, b) => a - b)[5]).toBeLessThan(400);
});

test("no counter falls when a worker is killed, and its restart is counted", async () => {
  const total = (await usage()).total.calls;
  expect(
    await until(async () => valueOf(await scrape(), "weir_calls_total") === (await usage()).total.calls),
  ).toBe(true);
  const before = await scrape();
  process.kill(weir.workers()[0]!, "SIGKILL");
  const counted = async () => valueOf(await scrape(), "weir_worker_restarts_total") === 1;
  expect(await until(counted, 20_000)).toBe(true);
  const after = await scrape();
  for (const { type, samples } of before.values())
    if (type !== "gauge")
      for (const { name, labels, value } of samples)
        expect([name, labels, valueOf(after, name, labels) >= value]).toEqual([name, labels, true]);
  expect(valueOf(after, "weir_calls_total")).toBeGreaterThanOrEqual(total);
});

test("after the keeper was killed the admin API answers at the same address, and the restart is counted", async () => {
  process.kill(weir.keeper()!, "SIGKILL");
  const answers = async () =>
    fetch(`${admin.url}/metrics`).then(
      async (response) => valueOf(parsePrometheus(await response.text()), "weir_keeper_restarts_total"),
      () => 0,
    );
  expect(await until(async () => (await answers()) === 1, 20_000)).toBe(true);
  expect((await ask("GET", "/keys")).status).toBe(200);
});

/** The answer to a person about itself, as a key has no person; and a comparison, which has to say of what. */
const OTHERWISE: Readonly<Record<string, number>> = { "/admin/v1/me": 404, "/admin/v1/witness/diff": 400 };

test("every operation that reads answers, from an empty query", async () => {
  const { paths } = (await (await ask("GET", "/openapi.json")).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const reading = Object.keys(paths).filter((path) => paths[path]!["get"] && !path.includes("{"));
  expect(reading.length).toBeGreaterThan(12);
  for (const path of reading) {
    const response = await fetch(`${admin.url}${path}`, {
      headers: { authorization: `Bearer ${admin.credential}` },
    });
    expect([path, response.status]).toEqual([path, OTHERWISE[path] ?? 200]);
    // A stream goes on as long as it has a reader.
    if (response.headers.get("content-type")?.startsWith("text/event-stream")) await response.body!.cancel();
    else await response.arrayBuffer();
  }
});

test("every write leaves an entry in the audit log, with who made it", async () => {
  const log = async () =>
    (
      (await (await ask("GET", "/audit/log?limit=500")).json()) as {
        entries: { actor: string; address?: string }[];
      }
    ).entries;
  const writes: [string, string, unknown?][] = [
    ["POST", "/budgets", { name: "b", on: { kind: "provider", what: "host" }, limit: 1e9 }],
    ["PATCH", "/budgets/b", { limit: 2e9 }],
    ["POST", "/budgets/b/raise", { limit: 3e9 }],
    ["DELETE", "/budgets/b"],
    ["POST", "/rates", { name: "r", on: { kind: "all", what: "" }, limits: { rpm: 1e6 } }],
    ["PATCH", "/rates/r", { limits: { rpm: 2e6 } }],
    ["DELETE", "/rates/r"],
    ["POST", "/keys", { name: "reader", kind: "read" }],
    ["PATCH", "/keys/reader", { tags: ["x"] }],
    ["POST", "/keys/reader/rotate"],
    ["DELETE", "/keys/reader"],
    ["POST", "/import/keys", { keys: [{ name: "imported", sha256: "a".repeat(64) }] }],
    ["DELETE", "/keys/imported"],
    ["POST", "/invoices", { provider: "host", month: "2026-11", amount: 5 }],
    ["POST", "/store/backup", { path: `${weir.state}/copy.db` }],
    ["POST", "/store/prune", {}],
  ];
  for (const [method, path, body] of writes) {
    const before = (await log()).length;
    const response = await ask(method, path, body);
    expect([method, path, response.ok, response.ok ? "" : await response.text()]).toEqual([
      method,
      path,
      true,
      "",
    ]);
    const entries = await log();
    expect([method, path, entries.length > before]).toEqual([method, path, true]);
    expect(entries[0]).toMatchObject({ actor: "run-file", address: "127.0.0.1" });
  }
});

test("a repeated creation with one Idempotency-Key makes one key", async () => {
  const create = async () => {
    const response = await ask("POST", "/keys", { name: "once", kind: "read" }, { "idempotency-key": "k1" });
    return [response.status, await response.text()];
  };
  const answers = await Promise.all([create(), create(), create()]);
  expect(new Set(answers.map((answer) => answer.join())).size).toBe(1);
  expect(answers[0]![0]).toBe(201);
});

test("a read key reads and an admin key of a path is kept to it", async () => {
  const make = async (body: object) =>
    ((await (await ask("POST", "/keys", body)).json()) as { secret: string }).secret;
  const read = await make({ name: "auditor", kind: "read" });
  const eng = await make({ name: "eng-admin", kind: "admin", path: "/eng" });
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  expect((await ask("GET", "/calls?limit=1", undefined, as(read))).status).toBe(200);
  expect((await ask("POST", "/keys", { name: "x" }, as(read))).status).toBe(403);
  expect((await ask("GET", "/store", undefined, as(eng))).status).toBe(403);
  const { calls } = (await (await ask("GET", "/calls", undefined, as(eng))).json()) as { calls: unknown[] };
  expect(calls).toEqual([]);
  expect((await (await ask("GET", "/usage", undefined, as(eng))).json()) as object).toMatchObject({
    total: { calls: 0 },
  });
});

const config = (more: object) => JSON.stringify({ providers: {}, ...more });
const start = (more: object, workers = 1) =>
  serve({ config: config(more), workers, binary: TARGET === "binary", env: { WEIR_STATE: "none" } });

test("several gateways of one machine have admin listeners of their own", async () => {
  const gateways = [await start({}), await start({}, 2)];
  try {
    for (const { folder } of gateways)
      expect(await until(() => entryOf(folder) !== undefined, 20_000)).toBe(true);
    const urls = gateways.map(({ folder }) => entryOf(folder)!.url);
    expect(new Set([admin.url, ...urls]).size).toBe(3);
    for (const url of urls) expect((await fetch(`${url}/health`)).status).toBe(200);
    for (const { log } of gateways)
      expect(await until(() => /console http:\/\/127\.0\.0\.1:\d+/.test(log.join("\n")), 5_000)).toBe(true);
  } finally {
    for (const gateway of gateways) await gateway.end();
  }
});

test("a configured admin port that is taken stops the start, with one worker and with two", async () => {
  const port = Number(new URL(admin.url).port);
  for (const workers of [1, 2]) {
    const failed = await start({ admin: { port } }, workers).then(
      (serving) => serving.end(),
      (cause: Error) => cause.message,
    );
    expect(failed).toContain(`the admin API cannot listen on 127.0.0.1:${port}: the port is taken`);
  }
});

test("an address that other machines can reach without an admin key stops the start", async () => {
  const failed = await start({ admin: { host: "0.0.0.0" } }).then(
    (serving) => serving.end(),
    (cause: Error) => cause.message,
  );
  expect(failed).toContain("requires an admin key");
});

test("with admin: off there is no listener", async () => {
  const gateway = await start({ admin: "off" });
  try {
    expect(await until(() => gateway.log.some((line) => line.includes("admin: off")), 10_000)).toBe(true);
    expect(entryOf(gateway.folder)).toBeUndefined();
  } finally {
    await gateway.end();
  }
});
