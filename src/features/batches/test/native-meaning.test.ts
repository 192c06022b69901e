/** Recorded requests as lines of batches at providers: each reaches the provider as an ordinary call would, and so does its answer. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { haveRecordings, NO_RECORDINGS, recordings } from "../../../../test/helpers/recordings.ts";
import type { JsonObject } from "../../../core/json.ts";
import { FakeCapture, type Spoken } from "./fake-capture.ts";

setDefaultTimeout(240_000);

if (!haveRecordings) console.log(NO_RECORDINGS);

/** Requests of each format, spread over the recordings. */
const REQUESTS = 150;

const VENDORS: Readonly<Record<Spoken, string>> = {
  ...{ chat: "openai", messages: "anthropic", responses: "openai", gemini: "gemini" },
};
const SPOKEN = ["chat", "messages", "responses", "gemini"] as const;

function spread<T>(all: readonly T[], count: number): T[] {
  const step = Math.max(1, all.length / count);
  return Array.from({ length: Math.min(count, all.length) }, (_, at) => all[Math.floor(at * step)]!);
}

const recorded = (api: Spoken) => recordings({ api, vendors: [VENDORS[api]] });

/** Bodies as clients sent them, without what a batch cannot have. */
function requestsOf(api: Spoken): JsonObject[] {
  const bodies = recorded(api).flatMap(({ request }) => (request?.body ? [request.body as JsonObject] : []));
  return spread(bodies, REQUESTS).map((body) => {
    const { stream, stream_options, background, model, ...rest } = body;
    return rest;
  });
}

function answersOf(api: Spoken): string[] {
  return recorded(api)
    .filter(({ stream, framing, response }) => !stream && framing === "json" && response.status === 200)
    .map(({ response }) => response.body!)
    .filter((body) => !body.includes('"in_progress"'));
}

const hosts = Object.fromEntries(
  SPOKEN.map((api) => {
    const answers = answersOf(api);
    return [api, new FakeCapture((number) => answers[number % answers.length]!)];
  }),
) as Record<Spoken, FakeCapture>;

const state = mkdtempSync(join(tmpdir(), "weir-native-meaning-"));
const gateway = await startGateway({
  env: { WEIR_STATE: state },
  config: {
    providers: {
      chat: { speaks: "chat-completions", baseUrl: `${hosts.chat.url}/v1`, apiKey: "k-1", models: ["m"] },
      responses: { speaks: "responses", baseUrl: `${hosts.responses.url}/v1`, apiKey: "k-2", models: ["m"] },
      messages: { speaks: "messages", baseUrl: hosts.messages.url, apiKey: "k-3", models: ["m"] },
      gemini: { speaks: "gemini", baseUrl: hosts.gemini.url, apiKey: "k-4", models: ["m"] },
    },
    batches: {
      native: {
        ...{ chat: { api: "openai" }, responses: { api: "openai" } },
        ...{ messages: { api: "anthropic" }, gemini: { api: "gemini" } },
      },
      ...{ poll: 1, retries: 0, limits: { perKey: 100 } },
    },
    // A recorded answer comes twice, and weir keeps the first one of an id.
    responses: { store: "off" },
    log: { format: "json" },
  },
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  for (const host of Object.values(hosts)) host.stop();
  rmSync(state, { recursive: true, force: true });
});

const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });

/** The path of a call, and the body that names its model. */
function callOf(api: Spoken, model: string, body: JsonObject): { path: string; body: JsonObject } {
  if (api === "gemini") return { path: `/v1beta/models/${model}:generateContent`, body };
  const path = { chat: "/v1/chat/completions", responses: "/v1/responses", messages: "/v1/messages" }[api];
  return { path, body: { model, ...body } };
}

interface Answered {
  readonly status: number;
  readonly body: unknown;
}

async function call(api: Spoken, model: string, request: JsonObject): Promise<Answered> {
  const { path, body } = callOf(api, model, request);
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function batchOf(api: Spoken, model: string, requests: readonly JsonObject[]): Promise<string> {
  if (api === "gemini") {
    const inline = requests.map((request, at) => ({ request, metadata: { key: `l${at}` } }));
    const batch = { displayName: "meaning", inputConfig: { requests: { requests: inline } } };
    const made = await fetch(`${gateway.url}/v1beta/models/${model}:batchGenerateContent`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify({ batch }),
    });
    const { name } = (await made.json()) as { name: string };
    return name.replace("batches/", "batch_");
  }
  const lines = requests.map((request, at) => {
    const { path, body } = callOf(api, model, request);
    return JSON.stringify({ custom_id: `l${at}`, method: "POST", url: path, body });
  });
  const { path } = callOf(api, model, {});
  const file = await toFile(Buffer.from(lines.join("\n")), "in.jsonl");
  const { id } = await openai.files.create({ file, purpose: "batch" });
  const made = await openai.batches.create({
    ...{ input_file_id: id, completion_window: "24h" },
    endpoint: path as "/v1/chat/completions",
  });
  return made.id;
}

/** By the number of the line, in its format. */
async function resultsOf(id: string): Promise<Map<number, Answered>> {
  let batch = await openai.batches.retrieve(id);
  while (!["completed", "failed", "expired"].includes(batch.status)) {
    await Bun.sleep(50);
    batch = await openai.batches.retrieve(id);
  }
  const found = new Map<number, Answered>();
  for (const file of [batch.output_file_id, batch.error_file_id]) {
    const text = file ? await (await openai.files.content(file, { query: { as: "line" } })).text() : "";
    for (const line of text.split("\n").filter(Boolean)) {
      const { custom_id, response } = JSON.parse(line) as {
        custom_id: string;
        response: { status_code: number; body: unknown } | null;
      };
      found.set(Number(custom_id.slice(1)), { status: response?.status_code ?? 0, body: response?.body });
    }
  }
  expect([batch.status, batch.errors ?? null, found.size]).toEqual([
    "completed",
    null,
    batch.request_counts!.total,
  ]);
  return found;
}

/** Names and times that differ from call to call. */
const OWN: ReadonlySet<string> = new Set([
  ...["id", "call_id", "tool_call_id", "tool_use_id", "item_id", "responseId", "request_id", "requestId"],
  ...["created", "created_at", "completed_at", "createTime"],
]);

function withoutOwn(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, one: unknown) => (OWN.has(name) ? "OWN" : one)));
}

/** Long answers of ordinary calls are asked for as streams, which a batch has not. */
function unstreamed(body: string): string {
  return body.replace(/"stream":true,("stream_options":\{"include_usage":true\},)?/, "");
}

for (const from of SPOKEN)
  for (const to of SPOKEN)
    test.if(haveRecordings)(`${from} to a provider of ${to}`, async () => {
      const host = hosts[to];
      const requests = requestsOf(from);
      expect(requests.length).toBe(REQUESTS);
      host.calls.length = host.lines.length = 0;
      const answers: Answered[] = [];
      for (const [number, request] of requests.entries()) {
        host.next = number;
        answers.push(await call(from, `${to}/m`, request));
      }
      const called = new Map(host.calls.map(({ number, body }) => [number, body]));
      const results = await resultsOf(await batchOf(from, `${to}/m`, requests));
      const lines = new Map(host.lines.map(({ number, body }) => [number, body]));
      // Most can be translated, and each of these went by the batch.
      expect(called.size).toBeGreaterThan(0.7 * requests.length);
      expect([lines.size, host.lines.length, host.calls.length]).toEqual([
        called.size,
        called.size,
        called.size,
      ]);
      const good = answers.filter(({ status }) => status === 200);
      expect(good.length).toBeGreaterThan(0.7 * requests.length);
      for (const [number, body] of called)
        expect([number, lines.get(number)]).toEqual([number, unstreamed(body)]);
      for (const [number, { status, body }] of answers.entries()) {
        const result = results.get(number)!;
        expect([number, result.status, withoutOwn(result.body)]).toEqual([number, status, withoutOwn(body)]);
      }
    });
