/** What providers said of attempts that failed: in the record, in the admin API, in `weir logs` and in the log. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { CallEntry } from "../../src/operator/index.ts";
import { until } from "../helpers/serving.ts";
import { cut, json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { type RunningBooks, startBooks } from "./running.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(120_000);

const KEY = "vendor-key-0123456789abcdef";
const BUSY = { error: { type: "server_error", code: "slow_down", message: "Busy\u0007, try later" } };
const CHUNK = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n`;

let weir: RunningBooks;
const upstreams: Upstream[] = [];

/** A host whose model `m` answers so. */
function host(name: string, answer: Parameters<typeof startUpstream>[0]) {
  const upstream = startUpstream(answer);
  upstreams.push(upstream);
  return [name, { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"], apiKey: KEY }];
}

beforeAll(async () => {
  const long = `Incorrect API key provided: ${KEY}. ${"x".repeat(400)}`;
  const error = (status: number, body: unknown, headers = {}) => json(body, status, headers);
  const providers = Object.fromEntries([
    host("strict", () => error(400, { error: { message: "No." } })),
    host("well", () => json(completion())),
    host("busy", () => error(503, BUSY, { "retry-after": "7", "x-request-id": "req_vendor_1" })),
    host("locked", () => error(401, { error: { code: "invalid_api_key", message: long } })),
    host("broken", () => cut([CHUNK], "fin")),
  ]);
  weir = await startBooks({
    workers: 1,
    config: {
      log: { format: "json" },
      providers: { ...providers, gone: { ...providers["well"], baseUrl: "http://127.0.0.1:9" } },
      routes: { chain: ["busy/m", { model: "well/m", priority: 1 }] },
    },
  });
});

afterAll(async () => {
  await weir?.end();
  for (const upstream of upstreams) upstream.stop();
});

/** Makes a call. @returns its record */
async function recordOf(model: string, stream = false): Promise<CallEntry> {
  const response = await fetch(`${weir.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, stream, max_tokens: 10, messages: [{ role: "user", content: "hello" }] }),
  });
  await response.text().catch(() => {});
  const id = response.headers.get("x-request-id")!;
  let found: CallEntry | undefined;
  const isThere = async () => {
    found = (await weir.api.ask("GET /calls/{id}", { params: { id } }).catch(() => undefined)) as CallEntry;
    return found !== undefined;
  };
  expect(await until(isThere, 10_000)).toBe(true);
  return found!;
}

test("S4: a retried attempt keeps status, code, message, id and pause of its provider", async () => {
  const call = await recordOf("chain");
  expect(call.status).toBe(200);
  expect(call.failures).toEqual([
    {
      ...{ try: 1, what: "503", status: 503, code: "slow_down", message: "Busy\\u0007, try later" },
      ...{ upstreamId: "req_vendor_1", retryAfter: 7 },
    },
  ]);
  const [line] = weir.log.filter((text) => text.includes(call.id)).map((text) => JSON.parse(text));
  expect(line.attempts[0]).toMatchObject({
    ...{ status: 503, code: "slow_down", retry_after: 7, upstream_id: "req_vendor_1" },
  });
  const words = "try 1: 503 slow_down: Busy\\u0007, try later, retry after 7 s, request req_vendor_1";
  expect(weir.run("logs", "--call", call.id).output).toContain(words);
  expect(JSON.parse(weir.run("logs", "--call", call.id, "--json").output).failures).toHaveLength(1);
  expect(weir.run("logs", "--csv").output).toContain(words);
});

test("S4: a refused credential is told in the provider's words, masked and cut", async () => {
  const { status, failures = [] } = await recordOf("locked/m");
  expect([status, failures[0]?.status, failures[0]?.code]).toEqual([502, 401, "invalid_api_key"]);
  const { message = "" } = failures[0]!;
  expect(message).toStartWith("Incorrect API key provided: ");
  expect(message).not.toContain(KEY.slice(0, 12));
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(200);
});

test("S3, S4: without an error status the record has a word: a broken stream, no connection", async () => {
  const broken = await recordOf("broken/m", true);
  expect(broken.failures).toMatchObject([{ try: 1, what: "stream_incomplete", status: 200 }]);
  expect(broken.failures![0]!.message).toBeString();
  const gone = await recordOf("gone/m");
  expect(gone.failures!.at(-1)).toMatchObject({ what: "refused", message: expect.stringContaining("gone") });
  expect(gone.failures!.at(-1)).not.toHaveProperty("status");
  expect((await recordOf("well/m")).failures).toBeUndefined();
});

test("S3: errors of providers are counted by attempt, and each figure finds its calls and no others", async () => {
  const ids = new Map<string, string>();
  for (const name of ["chain", "locked/m", "broken/m", "strict/m", "well/m"])
    ids.set(name, (await recordOf(name, name === "broken/m")).id);
  const { providers } = await weir.api.ask("GET /providers", {});
  const errorsOf = (name: string) =>
    providers.flatMap(({ deployments }) => deployments).find((one) => one.name === name)!.errors;
  expect(errorsOf("busy")).toEqual([
    { class: "status 503", status: 503, group: "5xx", calls: expect.any(Number) },
  ]);
  expect(errorsOf("locked")).toEqual([
    { class: "status 401", status: 401, group: "credential", calls: expect.any(Number) },
  ]);
  expect(errorsOf("broken")).toEqual([
    { class: "stream_incomplete", group: "broken", calls: expect.any(Number) },
  ]);
  expect(errorsOf("well")).toEqual([]);
  for (const [tried, name] of [
    ["credential", "locked/m"],
    ["broken", "broken/m"],
    ["request", "strict/m"],
  ] as const) {
    const { calls } = await weir.api.ask("GET /calls", { query: { tried, limit: 100 } });
    expect(calls.map(({ id }) => id)).toContain(ids.get(name)!);
    for (const [other, id] of ids) if (other !== name) expect(calls.map((call) => call.id)).not.toContain(id);
  }
  const { calls } = await weir.api.ask("GET /calls", { query: { tried: "5xx", limit: 100 } });
  expect(calls.length).toBeGreaterThan(0);
  expect(
    (calls as readonly CallEntry[]).every(({ failures }) => failures?.some(({ what }) => what === "503")),
  ).toBe(true);
});
