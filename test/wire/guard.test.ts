/**
 * A guard in front of real calls: it replaces values in requests and restores them in answers, in every client format, both lanes and
 * for streams that cut its tokens. Nothing further inwards may see a value: providers, tapes, captures, stored answers, the log.
 */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChatEvent } from "../../src/core/events.ts";
import { NO_USAGE } from "../../src/core/events.ts";
import { GatewayError } from "../../src/core/error.ts";
import type { ClientCodec } from "../../src/core/format.ts";
import { isObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { geminiFormat } from "../../src/formats/gemini/index.ts";
import { messagesFormat } from "../../src/formats/messages/index.ts";
import { responsesFormat } from "../../src/formats/responses/index.ts";
import { Recorder } from "../../src/gateway/recording/recorder.ts";
import type { Around, NamedPart, WorkerHost, WorkerPart } from "../../src/gateway/seams.ts";
import { aroundTape } from "../../src/gateway/tape.ts";
import { writeFrame } from "../../src/stream/sse.ts";
import { writeAll } from "../helpers/answer-codecs.ts";
import { makeContext } from "../helpers/codec-context.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { guardPart } from "../helpers/guard.ts";
import {
  APIS,
  CARD,
  EMAIL,
  eventsIn,
  joined,
  LANES,
  leaksIn,
  provide,
  SAID,
  SECRET,
  SIZES,
  SPOKEN,
} from "../helpers/guarded.ts";
import { json, sse, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const TOKENS = new Map([
  [EMAIL, "PII_EMAIL_zh5hkibg"],
  [CARD, "PII_CARD_dqr5tm7i"],
  [SECRET, "PII_KEY_3hink6vh"],
]);

/** What the parts that are further inwards than the guard get. */
const inner: string[] = [];

const tape: NamedPart<WorkerHost, WorkerPart> = {
  name: "tape",
  load: async () => {
    const write = (entry: object) => void inner.push(JSON.stringify(entry));
    const lost = (sentence: string) => {
      throw new Error(sentence);
    };
    const recorder = new Recorder({ write, mask: (text) => text, onLost: lost });
    return { start: () => ({ seams: () => ({ around: { at: "tape", run: aroundTape(recorder) } }) }) };
  },
};

let state: string;
let gateway: RunningGateway;
const providers = new Map<string, Upstream>();

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "weir-guard-"));
  const config = Object.entries(SPOKEN).map(([format, client]) => {
    const upstream = startUpstream((request) => provide(client, request));
    providers.set(format, upstream);
    const baseUrl = format === "messages" ? upstream.url : `${upstream.url}/v1`;
    return [`p-${format}`, { speaks: format, baseUrl, apiKey: "k-1234567", models: ["m"] }];
  });
  gateway = await startGateway({
    config: {
      state,
      providers: Object.fromEntries(config),
      responses: { store: "on" },
      capture: { share: 1 },
      log: { format: "json" },
    },
    workers: [guardPart(TOKENS), tape],
  });
});

afterAll(async () => {
  await gateway.stop();
  for (const upstream of providers.values()) upstream.stop();
  await rm(state, { recursive: true, force: true });
});

async function ask(format: string, spoken: string, size: number, stream: boolean): Promise<JsonObject[]> {
  const { path, body } = APIS[format]!;
  const model = `p-${spoken}/m`;
  const written = JSON.stringify(body(model, stream, `${SAID} of ${size}`));
  const response = await fetch(gateway.url + path(model, stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    // Some clients escape more than they must.
    body: size % 2 === 1 ? written.replaceAll("@", "\\u0040") : written,
  });
  const text = await response.text();
  expect([response.status, response.status === 200 || text]).toEqual([200, true]);
  return eventsIn(text);
}

describe("the client gets its values back", () => {
  for (const [format, spoken] of LANES)
    test(`${format}, ${format === spoken ? "native" : "translated"}`, async () => {
      for (const [size, stream] of [...SIZES.map((size) => [size, true] as const), [200, false] as const]) {
        const prompt = `${SAID} of ${size}`;
        const { text, args } = APIS[format]!.read(await ask(format, spoken, size, stream));
        const said = format === "ollama-generate" ? undefined : { to: prompt };
        expect([size, stream, text, args]).toEqual([size, stream, prompt, said]);
      }
    });
});

test("a verdict on an answer that has begun is a status, in every format and both lanes", async () => {
  const upstreams = Object.entries(SPOKEN).map(([format, client]) => {
    const upstream = startUpstream((request) => provide(client, request));
    const baseUrl = format === "messages" ? upstream.url : `${upstream.url}/v1`;
    const host = { speaks: format, baseUrl, apiKey: "k-1234567", models: ["m"] };
    return { upstream, provider: [`p-${format}`, host] as const };
  });
  const run: Around = async (_, next) => {
    const opened = await next();
    const refusal = new GatewayError("invalid-request", "The guard refused it.", {
      code: "blocked_by_guard",
    });
    if (opened.kind === "stream") opened.source.stop(refusal);
    throw refusal;
  };
  const part: WorkerPart = { seams: () => ({ around: { at: "guard", run } }) };
  const refusing = await startGateway({
    config: { providers: Object.fromEntries(upstreams.map(({ provider }) => provider)) },
    workers: [{ name: "guard", load: async () => ({ start: () => part }) }],
  });
  for (const [format, spoken] of LANES)
    for (const stream of [true, false]) {
      const model = `p-${spoken}/m`;
      const response = await fetch(refusing.url + APIS[format]!.path(model, stream), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(APIS[format]!.body(model, stream, `${SAID} of 1`)),
      });
      const text = await response.text();
      expect([format, response.status]).toEqual([format, 400]);
      expect(text).toContain("The guard refused it.");
      expect(text).not.toContain("SAY");
    }
  for (const { upstream } of upstreams) {
    await upstream.quiet();
    expect(upstream.requests.length).toBeGreaterThan(0);
    upstream.stop();
  }
  await refusing.stop();
});

/** Operations beside the generation of answers, each with a path and a body. */
const BESIDE: readonly (readonly [path: string, body: JsonObject])[] = [
  ["/v1/embeddings", { model: "mock/embed", input: [SAID, "b"], user: EMAIL }],
  ["/v1beta/models/mock/embed:embedContent", { content: { parts: [{ text: SAID }] } }],
  ["/v1beta/models/mock/embed:batchEmbedContents", { requests: [{ content: { parts: [{ text: SAID }] } }] }],
  ["/api/embed", { model: "mock/embed", input: SAID }],
  ["/v1/messages/count_tokens", { model: "mock/chat", messages: [{ role: "user", content: SAID }] }],
  ["/v1/responses/input_tokens", { model: "mock/chat", input: SAID }],
  ["/v1beta/models/mock/chat:countTokens", { contents: [{ parts: [{ text: SAID }] }] }],
];

test("other operations pass the guard, too", async () => {
  for (const [path, body] of BESIDE) {
    const before = inner.length;
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect([path, response.status, (await response.text()).length > 5]).toEqual([path, 200, true]);
    expect(inner.slice(before).join("")).toContain(TOKENS.get(EMAIL)!);
  }
});

test("a stored answer comes back with its values", async () => {
  const events = await ask("responses", "chat-completions", 3, false);
  const stored = await fetch(`${gateway.url}/v1/responses/${String(events[0]!.id)}`);
  expect(joined([(await stored.json()) as JsonObject], "output.*.content.*.text")).toBe(`${SAID} of 3`);
});

/** All that a file says; of a database the values of all tables, decompressed. */
async function keptIn(file: string): Promise<string> {
  const raw = await Bun.file(file).text();
  if (!raw.startsWith("SQLite")) return raw;
  const database = new Database(file, { readonly: true });
  const tables = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all();
  const rows = tables.flatMap(({ name }) => [
    `TABLE ${name}`,
    ...database
      .query(`SELECT * FROM "${name}"`)
      .values()
      .flatMap((row) => row.map(plain)),
  ]);
  database.close();
  return rows.join("\n");
}

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

function plain(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value);
  const bytes = Buffer.from(value);
  return (bytes.indexOf(ZSTD) === 0 ? Buffer.from(Bun.zstdDecompressSync(bytes)) : bytes).toString();
}

test("no value is further inwards than the guard", async () => {
  const asked = [...providers.values()].flatMap(({ requests }) => requests);
  const calls = LANES.length * (SIZES.length + 1) + 1;
  expect([asked.length, inner.length]).toEqual([calls, calls + BESIDE.length]);
  const sent = asked.map(({ path, body }) => `${path} ${body}`);
  expect(sent.filter((text) => ![...TOKENS.values()].every((token) => text.includes(token)))).toEqual([]);
  expect(leaksIn(sent.join("\n"))).toEqual([]);
  expect(leaksIn(inner.join("\n"))).toEqual([]);
  expect(inner.join("\n")).toContain(TOKENS.get(EMAIL)!);
  await gateway.stop();
  expect(gateway.log.length).toBeGreaterThan(calls - 1);
  expect(leaksIn(gateway.log.join("\n"))).toEqual([]);
  const files = (await readdir(state, { recursive: true, withFileTypes: true })).filter((file) =>
    file.isFile(),
  );
  const kept = await Promise.all(files.map(({ parentPath, name }) => keptIn(join(parentPath, name))));
  expect(leaksIn(kept.join("\n"))).toEqual([]);
  // Stored answers and captures are in files of their own.
  for (const table of ["response", "captured"])
    expect(kept.filter((text) => text.includes(`TABLE ${table}\n`)).join("\n")).toContain(TOKENS.get(EMAIL)!);
});
