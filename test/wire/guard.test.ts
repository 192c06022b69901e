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
import { json, sse, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const EMAIL = "anna@example.com";
const CARD = "4111 1111 1111 1111";
/** JSON needs escapes for it. */
const SECRET = 'ke"y\\9f';
const TOKENS = new Map([
  [EMAIL, "PII_EMAIL_zh5hkibg"],
  [CARD, "PII_CARD_dqr5tm7i"],
  [SECRET, "PII_KEY_3hink6vh"],
]);

/** Also begins like tokens, and holds what is none. */
const SAID = `SAY PII_ ${EMAIL}${CARD}, PII_EMAIL_zh5 and ${SECRET}, PII_KEY_3hink6v`;
const SIZES = [1, 2, 3, 5, 7, 11, 200];

const escape = (text: string) => JSON.stringify(text).slice(1, -1);
const FORMS = [...TOKENS.keys()].flatMap((value) => [value, escape(value), escape(escape(value))]);

/** The values that a text holds, in any spelling. */
const leaksIn = (text: string) => FORMS.filter((form) => text.includes(form));

/** The string in a request that the provider says back. */
function promptIn(value: Json | undefined): string | undefined {
  if (typeof value === "string") return /SAY [^]*$/.exec(value)?.[0];
  if (typeof value !== "object" || value === null) return undefined;
  for (const inner of Object.values(value).toReversed()) {
    const found = promptIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

const piecesOf = (text: string, size: number) =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));

/** A text, and a tool call if the request has tools. */
function answerTo(prompt: string, hasTools: boolean, size: number): ChatEvent[] {
  const block = (index: number, start: ChatEvent & { type: "block-start" }, text: string): ChatEvent[] => [
    start,
    ...piecesOf(text, size).map((delta): ChatEvent => ({ type: "block-delta", index, delta })),
    { type: "block-end", index },
  ];
  const call = { type: "tool-call", id: "call_1", name: "send", kind: "function" } as const;
  return [
    { type: "message-start", id: "a_1", model: "m" },
    ...block(0, { type: "block-start", index: 0, block: { type: "text" } }, prompt),
    ...(hasTools
      ? block(1, { type: "block-start", index: 1, block: call }, JSON.stringify({ to: prompt }))
      : []),
    {
      type: "message-end",
      reason: { kind: hasTools ? "tool-calls" : "stop" },
      usage: { ...NO_USAGE, input: 5, output: 5 },
    },
  ];
}

const SPOKEN: Readonly<Record<string, ClientCodec>> = {
  "chat-completions": chatCompletionsFormat.client,
  messages: messagesFormat.client,
  responses: responsesFormat.client,
  gemini: geminiFormat.client,
};

/** A provider of a format, which writes its answers as weir writes them for clients. */
function provide({ codec }: ClientCodec, { body, path }: UpstreamRequest) {
  const request = JSON.parse(body.toString()) as JsonObject;
  const prompt = promptIn(request)!;
  const size = Number(/of (\d+)/.exec(prompt)![1]);
  const events = answerTo(prompt, request.tools !== undefined, size);
  const context = makeContext();
  if (request.stream !== true && !path.includes("stream")) return json(codec.writeAnswer(events, context));
  // Each event comes with a read of its own.
  return sse(
    writeAll(codec.writeStream(context), events).flatMap((frame) => [writeFrame(frame), { wait: 0 }]),
  );
}

interface Api {
  path(model: string, stream: boolean): string;
  body(model: string, stream: boolean, prompt: string): JsonObject;
  /** The text, and the arguments of the call as a value. @param events one answer, or those of a stream */
  read(events: readonly JsonObject[]): { text: string; args: Json | undefined };
}

const PARAMETERS = { type: "object", properties: { to: { type: "string", description: `not ${EMAIL}` } } };
const FUNCTION = { name: "send", description: `Sends as ${EMAIL}.`, parameters: PARAMETERS };
const ARGS = { to: EMAIL, key: SECRET };
const SYSTEM = `Pay with ${CARD}.`;
const RESULT = `Sent with ${SECRET} to ${EMAIL}.`;

/** Chat messages with a tool call and its result. */
const chatTurns = (prompt: string, args: Json): JsonObject[] => [
  { role: "system", content: SYSTEM },
  { role: "user", content: "Hello" },
  {
    role: "assistant",
    content: "",
    tool_calls: [{ id: "call_0", type: "function", function: { name: "send", arguments: args } }],
  },
  { role: "tool", tool_call_id: "call_0", tool_name: "send", content: RESULT },
  { role: "user", content: prompt },
];

/** All values at a path with `*` for each item. */
function at(value: Json | undefined, path: string): Json[] {
  const found = path.split(".").reduce<(Json | undefined)[]>(
    (values, name) =>
      values.flatMap((one) => {
        if (name === "*") return Array.isArray(one) ? one : [];
        return isObject(one) ? [one[name]] : [];
      }),
    [value],
  );
  return found.filter((one) => one !== undefined);
}

const joined = (events: readonly JsonObject[], ...paths: string[]) =>
  events
    .flatMap((event) => paths.flatMap((path) => at(event, path)))
    .filter((one) => typeof one === "string")
    .join("");

const parsed = (text: string) => (text === "" ? undefined : (JSON.parse(text) as Json));

const CALL = "tool_calls.*.function.arguments";

const APIS: Readonly<Record<string, Api>> = {
  "chat-completions": {
    path: () => "/v1/chat/completions",
    body: (model, stream, prompt) => ({
      ...{ model, stream, messages: chatTurns(prompt, JSON.stringify(ARGS)) },
      ...{ tools: [{ type: "function", function: FUNCTION }], user: EMAIL },
    }),
    read: (events) => ({
      text: joined(events, "choices.*.delta.content", "choices.*.message.content"),
      args: parsed(joined(events, `choices.*.delta.${CALL}`, `choices.*.message.${CALL}`)),
    }),
  },
  messages: {
    path: () => "/v1/messages",
    body: (model, stream, prompt) => ({
      ...{ model, stream, max_tokens: 500, system: SYSTEM, metadata: { user_id: EMAIL } },
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_0", name: "send", input: ARGS }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_0", content: [{ type: "text", text: RESULT }] },
            { type: "text", text: prompt },
          ],
        },
      ],
      tools: [{ name: "send", description: FUNCTION.description, input_schema: PARAMETERS }],
    }),
    read: (events) => ({
      text: joined(events, "delta.text", "content.*.text"),
      args: parsed(joined(events, "delta.partial_json")) ?? at(events[0], "content.*.input")[0],
    }),
  },
  responses: {
    path: () => "/v1/responses",
    body: (model, stream, prompt) => ({
      ...{ model, stream, instructions: SYSTEM, user: EMAIL },
      input: [
        { role: "user", content: "Hello" },
        { type: "function_call", call_id: "call_0", name: "send", arguments: JSON.stringify(ARGS) },
        { type: "function_call_output", call_id: "call_0", output: RESULT },
        { role: "user", content: [{ type: "input_text", text: prompt }] },
      ],
      tools: [{ type: "function", ...FUNCTION, strict: false }],
    }),
    read: (events) => {
      const typed = (type: string) => events.filter((event) => event.type === type);
      const text = joined(typed("response.output_text.delta"), "delta");
      const args = joined(typed("response.function_call_arguments.delta"), "delta");
      // What a stream says at its end is the same as its pieces.
      for (const event of typed("response.completed")) {
        expect(joined([event], "response.output.*.content.*.text")).toBe(text);
        expect(joined([event], "response.output.*.arguments")).toBe(args);
      }
      return {
        text: text + joined(events, "output.*.content.*.text"),
        args: parsed(args + joined(events, "output.*.arguments")),
      };
    },
  },
  gemini: {
    path: (model, stream) =>
      `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: (_model, _stream, prompt) => ({
      system_instruction: { parts: [{ text: SYSTEM }] },
      contents: [
        { role: "user", parts: [{ text: "Hello" }] },
        { role: "model", parts: [{ functionCall: { name: "send", args: ARGS } }] },
        { role: "user", parts: [{ functionResponse: { name: "send", response: { output: RESULT } } }] },
        { role: "user", parts: [{ text: prompt }] },
      ],
      tools: [{ functionDeclarations: [FUNCTION] }],
    }),
    read: (events) => ({
      text: joined(events, "candidates.*.content.parts.*.text"),
      args: events.flatMap((event) => at(event, "candidates.*.content.parts.*.functionCall.args"))[0],
    }),
  },
  ollama: {
    path: () => "/api/chat",
    body: (model, stream, prompt) => ({
      ...{ model, stream, messages: chatTurns(prompt, ARGS) },
      tools: [{ type: "function", function: FUNCTION }],
    }),
    read: (events) => ({
      text: joined(events, "message.content"),
      args: events.flatMap((event) => at(event, `message.${CALL}`))[0],
    }),
  },
  "ollama-generate": {
    path: () => "/api/generate",
    body: (model, stream, prompt) => ({ model, stream, prompt, system: SYSTEM }),
    read: (events) => ({ text: joined(events, "response"), args: undefined }),
  },
};

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

/** The events of an answer in any framing; one for an answer that is no stream. */
function eventsIn(text: string): JsonObject[] {
  const lines = text.startsWith("{")
    ? text.split("\n")
    : [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data!);
  return lines.filter((line) => line.trim().startsWith("{")).map((line) => JSON.parse(line) as JsonObject);
}

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

const LANES = Object.keys(APIS).flatMap((format) => {
  const other = format === "chat-completions" ? "messages" : "chat-completions";
  return format in SPOKEN
    ? [[format, format] as const, [format, other] as const]
    : [[format, other] as const];
});

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
