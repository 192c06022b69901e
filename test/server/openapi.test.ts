/** The OpenAPI document against the routes of the server and its real answers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { assemble } from "../../src/run/assemble.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { CallHeader } from "../../src/core/call-header.ts";
import type { ClientSchemas } from "../../src/core/format.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { isObject, parseJson } from "../../src/core/json.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../src/formats/messages/index.ts";
import type { Life } from "../../src/gateway/seams.ts";
import type { Gateway } from "../../src/gateway/types.ts";
import { createApp } from "../../src/server/app.ts";
import { Admission } from "../../src/server/admission.ts";
import { parseFrames } from "../../src/stream/sse.ts";
import { FAULT_STATUSES } from "../../plugins/mock/faults.ts";
import { mockModels } from "../../plugins/mock/models.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { ROOT } from "../helpers/documents.ts";
import { HEADERS } from "../helpers/features.ts";
import { schemaFaults } from "../helpers/json-schema.ts";
import { haveRecordings, NO_RECORDINGS, recordings, someOf } from "../helpers/recordings.ts";
import { streamedText } from "../helpers/streamed.ts";
import { IS_LONG } from "../helpers/effort.ts";

const KEY = "a-key-of-the-gateway-123456";
const RETRIES = { attempts: 1 };

interface Documented {
  description: string;
  headers: Record<string, { $ref: string }>;
  content?: Record<string, { schema: JsonObject }>;
  "x-error-codes"?: string[];
}

interface OpenApiOperation {
  operationId: string;
  security?: Json[];
  parameters?: { name: string; in: string; schema: JsonObject }[];
  requestBody?: { content: Record<string, { schema: JsonObject }> };
  responses: Record<string, Documented>;
}

interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: JsonObject; headers: JsonObject; securitySchemes?: JsonObject };
}

let keyed: RunningGateway;
let keyless: RunningGateway;
let document: OpenApi;

beforeAll(async () => {
  keyed = await startGateway({ config: { keys: [{ name: "k", key: KEY }], retries: RETRIES } });
  keyless = await startGateway({ config: { retries: RETRIES } });
  document = await documentOf(keyed);
});

afterAll(async () => {
  await keyed.stop();
  await keyless.stop();
});

async function documentOf({ url }: RunningGateway): Promise<OpenApi> {
  return (await (await fetch(`${url}/openapi.json`, { headers: { "x-api-key": KEY } })).json()) as OpenApi;
}

/** The operations of the document as `METHOD path`. */
function operations(): Map<string, OpenApiOperation> {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, OpenApiOperation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
  return new Map(all);
}

/** Every operation that weir offers. */
const OFFERED: Readonly<Record<string, string>> = {
  "POST /v1/chat/completions": "generateChatCompletions",
  "POST /v1/messages": "generateMessages",
  "POST /v1/messages/count_tokens": "countMessagesTokens",
  "POST /v1/responses": "generateResponses",
  "POST /v1/responses/input_tokens": "countResponsesTokens",
  "POST /v1/embeddings": "createEmbeddings",
  "POST /v1/completions": "generateCompletions",
  "POST /v1/fim/completions": "generateFim",
  "POST /v1/rerank": "rerank",
  "POST /v2/rerank": "rerankV2",
  "POST /v1/score": "score",
  "POST /v1/moderations": "createModeration",
  "POST /v1/decisions": "createDecision",
  "POST /v1/images/generations": "createImage",
  "POST /v1/images/edits": "createImageEdit",
  "POST /v1/images/variations": "createImageVariation",
  "POST /v1/audio/speech": "createSpeech",
  "POST /v1/audio/transcriptions": "createTranscription",
  "POST /v1/audio/translations": "createTranslation",
  "POST /v1/chat/moderations": "createChatModeration",
  "POST /v1/interactions": "generateInteractions",
  "GET /v1/interactions/{id}": "retrieveInteractionsAnswer",
  "DELETE /v1/interactions/{id}": "deleteInteractionsAnswer",
  "POST /v1/interactions/{id}/cancel": "cancelInteractionsAnswer",
  "POST /v1beta/cachedContents": "createCachedContent",
  "GET /v1beta/cachedContents": "listCachedContents",
  "GET /v1beta/cachedContents/{id}": "getCachedContent",
  "PATCH /v1beta/cachedContents/{id}": "updateCachedContent",
  "DELETE /v1beta/cachedContents/{id}": "deleteCachedContent",
  "POST /api/chat": "generateOllama",
  "POST /api/generate": "generateOllamaGenerate",
  "POST /api/embed": "embedOllama",
  "POST /api/embeddings": "embedOllamaPrompt",
  "POST /api/show": "showOllamaModel",
  "GET /api/tags": "listOllamaModels",
  "GET /api/ps": "listOllamaRunningModels",
  "GET /api/version": "describeOllamaVersion",
  "POST /v1beta/models/{model}:generateContent": "generateGemini",
  "POST /v1beta/models/{model}:streamGenerateContent": "streamGemini",
  "POST /v1beta/models/{model}:countTokens": "countGeminiTokens",
  "POST /v1beta/models/{model}:batchEmbedContents": "embedGeminiContents",
  "POST /v1beta/models/{model}:embedContent": "embedGeminiContent",
  "GET /v1beta/models": "listGeminiModels",
  "GET /v1beta/models/{id}": "retrieveGeminiModel",
  "POST /v1/explain": "explain",
  "POST /v1/responses/compact": "compactResponses",
  "GET /v1/responses/{id}": "retrieveResponsesAnswer",
  "DELETE /v1/responses/{id}": "deleteResponsesAnswer",
  "POST /v1/responses/{id}/cancel": "cancelResponsesAnswer",
  "GET /v1/responses/{id}/input_items": "listResponsesInputItems",
  "POST /v1/conversations": "createResponsesConversation",
  "GET /v1/conversations/{id}": "retrieveResponsesConversation",
  "POST /v1/conversations/{id}": "updateResponsesConversation",
  "DELETE /v1/conversations/{id}": "deleteResponsesConversation",
  "GET /v1/conversations/{id}/items": "listItemsOfResponsesConversation",
  "POST /v1/conversations/{id}/items": "addItemsToResponsesConversation",
  "GET /v1/conversations/{id}/items/{item}": "retrieveItemOfResponsesConversation",
  "DELETE /v1/conversations/{id}/items/{item}": "deleteItemOfResponsesConversation",
  "GET /v1/models": "listModels",
  "GET /v1/models/{id}": "retrieveModel",
  "GET /v1/key": "describeKey",
  "GET /openapi.json": "describe",
  "GET /llms.txt": "listDocuments",
  "GET /llms-full.txt": "readDocuments",
  "GET /health": "health",
  "GET /healthz": "alive",
  "GET /readyz": "ready",
  "GET /": "hello",
  "HEAD /": "ping",
  "GET /api/hello": "helloApi",
  "HEAD /api/hello": "pingApi",
};

/** Operations of features that are on without a config, in the folders of their tests. */
const OF_FEATURES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...[...new Glob("src/features/*/test/operations.json").scanSync(ROOT)].map((file) =>
    JSON.parse(readFileSync(join(ROOT, file), "utf8")),
  ),
);

test("the document lists the operations of weir and no other", () => {
  expect(Object.fromEntries([...operations()].map(([name, { operationId }]) => [name, operationId]))).toEqual(
    {
      ...OFFERED,
      ...OF_FEATURES,
    },
  );
});

/** The routes of the gateway with keys. @param headers of features */
async function appWith(headers: readonly CallHeader[], life: Life = {}) {
  const { config } = loadConfig({ flags: {}, env: {}, cwd: keyed.folder });
  const { registry } = await assemble(config, {});
  return createApp({
    headers,
    gateway: { registry } as Gateway,
    cors: config.cors,
    life,
    secure: false,
    keyed: true,
    limits: config.limits,
    authenticate: () => undefined,
    admission: new Admission(config.limits),
    address: () => "",
    allowSilence: () => {},
    disconnect: () => {},
    version: "0",
    state: () => "ok",
  });
}

const FORM_CODES = [
  ...["conflicting_credentials", "credential_expired", "ambiguous_credential", "credential_unchecked"],
];

test("errors of forms of credentials are in the document where a feature has one", async () => {
  const form = { name: "f", example: "f", claims: () => false, check: () => Promise.reject(new Error("f")) };
  const codesOf = (app: Awaited<ReturnType<typeof appWith>>) => {
    const { detail } = app.routes().find(({ path }) => path === "/v1/models")!;
    return JSON.stringify(detail);
  };
  const [without, having] = [codesOf(await appWith([])), codesOf(await appWith([], { credentials: [form] }))];
  for (const code of FORM_CODES)
    expect([code, without.includes(code), having.includes(code)]).toEqual([code, false, true]);
});

test("headers of features are in the document, and no others of features", async () => {
  const words: CallHeader = {
    name: "x-weir-words",
    request: { description: "Whether weir counts words.", values: ["yes", "no"] },
    answer: "The number of words.",
  };
  const documentWith = async (headers: readonly CallHeader[]) => {
    const app = await appWith(headers);
    const response = await app.fetch(
      new Request("http://localhost/openapi.json", { headers: { host: "localhost" } }),
    );
    return (await response.json()) as OpenApi;
  };
  const { paths, components } = await documentWith([words]);
  const { parameters, responses } = paths["/v1/messages"]!["post"]!;
  expect(parameters?.find(({ name }) => name === "x-weir-words")).toEqual({
    ...{ name: "x-weir-words", in: "header", description: "Whether weir counts words." },
    schema: { anyOf: ["yes", "no"].map((value) => ({ const: value, type: "string" })) },
  } as never);
  for (const status of ["200", "400"])
    expect(responses[status]!.headers["x-weir-words"]).toEqual({ $ref: "#/components/headers/x-weir-words" });
  expect(components.headers["x-weir-words"]).toMatchObject({ description: "The number of words." });
  const own = (of: OpenApi) =>
    Object.keys(of.components.headers).filter((name) => name.startsWith("x-weir-"));
  const bare = await documentWith([]);
  expect(own(bare)).toEqual(
    own(await documentOf(keyed)).filter((name) => !HEADERS.some((one) => one.name === name)),
  );
});

test("every route of the app is in the document, and the reverse", async () => {
  const app = await appWith([]);
  // Other paths of an operation are in its description.
  const shown = app.routes().filter(({ method, detail }) => method === "ALL" || detail.hide !== true);
  const routes = shown.map(({ method, path }) => `${method} ${path}`);
  const documented = new Set(
    Object.keys(OFFERED).map((name) =>
      name.replace(/(?<=models\/)\{\w+\}(:\w+)?$/, "*").replace(/\{(id|item)\}/g, ":$1"),
    ),
  );
  // The last route answers 404 and 405 for all others.
  expect(routes.sort()).toEqual([...documented, "ALL /*"].sort());
});

function pathPattern(path: string): RegExp {
  return new RegExp(
    `^${path
      .split(/\{\w+\}/)
      .map(RegExp.escape)
      .join("[^/]+")}$`,
  );
}

test("every method that a path does not list is a 405 with the listed ones", async () => {
  const entries = Object.entries(document.paths);
  for (const [path] of entries) {
    // A parameter in the last place of one path may stand for the last segment of another.
    const matching = entries.filter(([other]) => pathPattern(other).test(path));
    const listed = [...new Set(matching.flatMap(([, methods]) => Object.keys(methods)))].map((method) =>
      method.toUpperCase(),
    );
    // Elysia answers HEAD for every GET.
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      if (listed.includes(method)) continue;
      const response = await fetch(keyed.url + path.replace("{id}", "mock%2Fchat"), { method });
      const allow = response.headers.get("allow")?.split(", ").sort();
      expect([method, path, response.status, allow]).toEqual([method, path, 405, listed.sort()]);
    }
  }
});

test("every reference leads to a component, and every component is used", () => {
  const used = new Set(
    [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+\/[\w-]+)"/g)].map(
      ([, name]) => name!,
    ),
  );
  const { schemas, headers } = document.components;
  const defined = [
    ...Object.keys(schemas).map((name) => `schemas/${name}`),
    ...Object.keys(headers).map((name) => `headers/${name}`),
  ];
  expect([...used].sort()).toEqual(defined.sort());
});

test("security is stated only if weir has keys, and never for the operations that anyone may call", async () => {
  expect(document.components.securitySchemes).toEqual({
    authorization: { type: "http", scheme: "bearer" },
    "x-api-key": { type: "apiKey", in: "header", name: "x-api-key" },
    "api-key": { type: "apiKey", in: "header", name: "api-key" },
    "x-goog-api-key": { type: "apiKey", in: "header", name: "x-goog-api-key" },
  });
  const open = [...operations()].filter(([, { security }]) => security?.length === 0);
  expect(open.map(([name]) => name).sort()).toEqual([
    "GET /",
    "GET /api/hello",
    "GET /api/version",
    "GET /health",
    "GET /healthz",
    "GET /readyz",
    "HEAD /",
    "HEAD /api/hello",
  ]);
  for (const [name, { responses, security }] of operations())
    expect([name, "401" in responses]).toEqual([name, security!.length > 0]);
  const withoutKeys = await documentOf(keyless);
  expect(JSON.stringify(withoutKeys)).not.toMatch(/"security|"401"/);
  expect(Object.keys(withoutKeys.paths)).toEqual(Object.keys(document.paths));
});

/** Where errors for clients are made. */
const FOLDERS = ["core", "stream", "auth", "formats", "gateway", "ledger", "server"];

test("the document lists every error code of the source, and no other", async () => {
  const files = FOLDERS.flatMap((folder) => [...new Glob(`src/${folder}/**/*.ts`).scanSync(ROOT)]);
  const sources = files.filter((file) => file !== "src/server/errors.ts");
  const text = (await Promise.all(sources.map((file) => Bun.file(join(ROOT, file)).text()))).join("\n");
  const codes = new Set([...text.matchAll(/\bcode: "([a-z_]+)"/g)].map(([, code]) => code!));
  // The error of a path that is no operation, and of a call whose client left.
  for (const code of ["unknown_url", "request_cancelled"]) codes.delete(code);
  const listed = new Set(
    [...operations().values()].flatMap(({ responses }) =>
      Object.values(responses).flatMap((response) => response["x-error-codes"] ?? []),
    ),
  );
  expect([...codes].filter((code) => !listed.has(code) && !FORM_CODES.includes(code))).toEqual([]);
  // These come from `plugins/mock` and from `src/run/weir.ts`.
  const others = ["upstream_error", "shutting_down", "key_revoked"];
  expect([...listed].filter((code) => !text.includes(`"${code}"`) && !others.includes(code))).toEqual([]);
});

describe("the request schemas say what the code says", () => {
  const chat = (messages: Json[], more: JsonObject = {}) => ({ model: "mock/chat", messages, ...more });
  const messages = (list: Json[], more: JsonObject = {}) => ({ ...chat(list, more), max_tokens: 9, ...more });
  const hi = { role: "user", content: "hi" };
  const system = { role: "system", content: "s" };
  const BODIES: readonly (readonly [path: string, accepted: boolean, body: JsonObject])[] = [
    ["/v1/chat/completions", true, chat([hi])],
    ["/v1/chat/completions", true, chat([system, hi], { temperature: 2, n: null })],
    ["/v1/chat/completions", false, chat([])],
    ["/v1/chat/completions", false, chat([hi], { temperature: 2.1 })],
    ["/v1/chat/completions", false, chat([hi], { max_tokens: 0 })],
    ["/v1/chat/completions", false, chat([hi], { max_completion_tokens: 1.5 })],
    ["/v1/chat/completions", false, chat([{ role: "assistant" }])],
    ["/v1/chat/completions", false, chat([{ role: "assistant", content: null, tool_calls: null }])],
    ["/v1/chat/completions", true, chat([{ role: "assistant", refusal: "no" }])],
    ["/v1/chat/completions", false, chat([{ role: "narrator", content: "x" }])],
    ["/v1/messages", true, messages([hi])],
    ["/v1/messages", true, messages([hi, system])],
    ["/v1/messages", false, messages([system, hi])],
    ["/v1/messages", false, messages([])],
    ["/v1/messages", false, messages([hi], { max_tokens: 0 })],
    ["/v1/messages", false, chat([hi])],
    ["/v1/messages", false, messages([hi], { top_p: 1.1 })],
    ["/v1/messages", false, messages([{ role: "user" }])],
    ["/v1/messages/count_tokens", true, chat([hi])],
    ["/v1/messages/count_tokens", false, chat([system])],
    ["/v1/messages/count_tokens", false, chat([hi], { max_tokens: 0 })],
    ["/v1/responses", true, { model: "mock/chat", input: "hi" }],
    ["/v1/responses", true, { model: "mock/chat", input: [{ ...hi, id: null, type: null }], tools: null }],
    ["/v1/responses", false, { model: "mock/chat" }],
    ["/v1/responses", false, { model: "mock/chat", input: null }],
    ["/v1/responses", false, { model: "mock/chat", input: [] }],
    ["/v1/responses", false, { model: "mock/chat", input: "hi", max_output_tokens: 0 }],
    ["/v1/responses", false, { model: "mock/chat", input: [{ type: "function_call", name: "f" }] }],
    ["/v1/responses/input_tokens", true, { model: "mock/chat", input: "hi" }],
    ["/v1/responses/input_tokens", false, { model: "mock/chat", input: [] }],
    ["/v1beta/models/mock/chat:generateContent", true, { contents: [{ parts: [{ text: "hi" }] }] }],
    ["/v1beta/models/mock/chat:generateContent", false, { contents: [] }],
    [
      "/v1beta/models/mock/chat:generateContent",
      false,
      { contents: [{ role: "system", parts: [{ text: "hi" }] }] },
    ],
    ["/v1beta/models/mock/chat:generateContent", false, { contents: [{ parts: [{ text: 1 }] }] }],
    [
      "/v1beta/models/mock/chat:countTokens",
      true,
      { generateContentRequest: { contents: [{ parts: [{ text: "hi" }] }] } },
    ],
    ["/v1/explain", true, chat([hi])],
    ["/v1/explain", false, chat([])],
    ["/v1/explain?format=messages", true, messages([hi])],
  ];
  for (const [path, accepted, body] of BODIES)
    test(`${path} ${accepted ? "accepts" : "refuses"} ${JSON.stringify(body).slice(0, 120)}`, async () => {
      const [documented] = path.replace("mock/chat:", "{model}:").split("?");
      const { schema } = document.paths[documented!]!.post!.requestBody!.content["application/json"]!;
      const isValid = schemaFaults(schema, body, document.components.schemas).length === 0;
      const response = await fetch(keyed.url + path, post(body));
      expect([isValid, response.status]).toEqual([accepted, accepted ? 200 : 400]);
      // A client without a schema learns what is wrong from the code.
      const code = codeOf((await response.json()) as Json);
      if (!accepted) expect(code).toMatch(/^(invalid_value|missing_required_parameter)$/);
    });

  test("system turns are out of the schema when the config refuses them", async () => {
    const gateway = await startGateway({ config: { messages: { systemTurns: "reject" } } });
    const { paths, components } = await documentOf(gateway);
    await gateway.stop();
    const { schema } = paths["/v1/messages"]!.post!.requestBody!.content["application/json"]!;
    expect(schemaFaults(schema, messages([hi]), components.schemas)).toEqual([]);
    expect(schemaFaults(schema, messages([hi, system]), components.schemas)).not.toEqual([]);
  });
});

/** The values of a stream that has one in each line. */
function linesOf(text: string): Json[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [JSON.parse(line) as Json]));
}

const post = (body: Json): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
  body: JSON.stringify(body),
});

/** What a response says that the document does not. */
async function undocumented(name: string, response: Response): Promise<string[]> {
  const { responses } = operations().get(name)!;
  const documented = responses[response.status];
  if (!documented) return [`${name} answered ${response.status}`];
  const faults = Object.keys(documented.headers).includes("x-request-id") ? [] : ["no x-request-id"];
  for (const header of response.headers.keys())
    if (/^(x-weir-|x-request-id|request-id)/.test(header) && !documented.headers[header])
      faults.push(`${name} ${response.status} has ${header}`);
  const [media = ""] = (response.headers.get("content-type") ?? "").split(";");
  if (!documented.content) return [...faults, ...((await response.text()) === "" ? [] : ["a body"])];
  const schema = documented.content[media]?.schema;
  if (!schema) return [...faults, `${name} ${response.status} is ${media}`];
  const { schemas } = document.components;
  if (media === "application/json") {
    const body = parseJson(await streamedText(response)) as Json;
    const code = codeOf(body);
    const known = documented["x-error-codes"];
    if (known && code !== undefined && !known.includes(code)) faults.push(`${response.status} has ${code}`);
    return [...faults, ...schemaFaults(schema, body, schemas)];
  }
  const text = await streamedText(response);
  if (media === "text/plain") return [...faults, ...schemaFaults(schema, text, schemas)];
  if (media === "application/x-ndjson")
    return [...faults, ...linesOf(text).flatMap((line) => schemaFaults(schema, line, schemas))];
  const frames = parseFrames(Buffer.from(text));
  if (frames.length === 0) faults.push(`${name} streamed nothing: ${text}`);
  return [...faults, ...frames.flatMap((frame) => schemaFaults(schema, { ...frame }, schemas))];
}

/** The code of an error in any format. */
function codeOf(body: Json): string | undefined {
  const [first] = Array.isArray(body) ? body : [body];
  const error = isObject(first) && isObject(first.error) ? first.error : {};
  const reasons = Array.isArray(error.details)
    ? error.details.flatMap((detail) => (isObject(detail) ? [detail.reason] : []))
    : [];
  const code =
    reasons.find((reason) => reason !== undefined) ??
    (isObject(error.details) && !Array.isArray(error.details) ? error.details.error_code : undefined) ??
    error.code;
  return typeof code === "string" ? code : undefined;
}

describe("answers, events and errors are what the document says", () => {
  const tools = [
    { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } },
    { type: "custom", custom: { name: "write" } },
  ];
  const own = [{ name: "look", input_schema: { type: "object", properties: {} } }];
  const hi = [{ role: "user", content: "say hi" }];
  const said = [{ role: "user", parts: [{ text: "say hi" }] }];
  /** Models that wait. */
  const SLOW = /^(slow|pace|stall)/;
  const models = mockModels.map(({ name, example }) => `mock/${example ?? name}`);
  /** One format after the other makes its errors of all statuses in the same place. */
  const statuses = IS_LONG ? FAULT_STATUSES : [400, 401, 429, 500];
  const failing = statuses.map((status) => `mock/error-${status}`);

  /** Bodies of each operation with a body, and paths of the others. */
  const SAMPLES: Readonly<Record<string, readonly (JsonObject | string)[]>> = {
    "POST /v1/chat/completions": [
      ...[...models, ...failing].map((model) => ({ model, messages: hi })),
      ...["mock/tools", "mock/reason", "mock/echo"].map((model) => ({
        ...{ model, messages: hi, tools, stop: ["hi"], stream_options: { include_usage: true } },
        reasoning_effort: "high",
      })),
      { model: "mock/tools", messages: hi, functions: [{ name: "look" }] },
      { model: "none/such", messages: hi },
      { model: "x".repeat(300), messages: hi },
      { model: "mock/chat", messages: [], Messages: hi },
      { model: "mock/chat", messages: [{ role: "user", content: [{ type: "image_url" }] }] },
    ],
    "POST /v1/messages": [
      ...[...models, ...failing].map((model) => ({ model, max_tokens: 99, messages: hi })),
      ...["mock/tools", "mock/reason", "mock/echo"].map((model) => ({
        ...{ model, max_tokens: 2000, messages: hi, tools: own, stop_sequences: ["hi"] },
        thinking: { type: "enabled", budget_tokens: 1024 },
      })),
      { model: "none/such", max_tokens: 9, messages: hi },
      { model: "mock/chat", max_tokens: 0, messages: hi },
      { model: "mock/chat", max_tokens: 9, messages: hi, thread: "t" },
      { model: "mock/chat", max_tokens: 9, messages: [{ role: "user", content: [{ type: "image" }] }] },
    ],
    "POST /v1/messages/count_tokens": [
      { model: "mock/chat", messages: hi },
      { model: "none/such", messages: hi },
      { model: "mock/chat", messages: [] },
    ],
    "POST /v1/responses": [
      ...[...models, ...failing].map((model) => ({ model, input: "say hi" })),
      ...["mock/tools", "mock/reason", "mock/echo"].map((model) => ({
        ...{ model, input: [{ role: "user", content: "say hi" }], reasoning: { effort: "high" } },
        tools: [{ type: "function", name: "look", parameters: {} }, { type: "local_shell" }],
      })),
      { model: "none/such", input: "hi" },
      { model: "mock/chat" },
      { model: "mock/chat", input: "hi", background: true },
      { model: "mock/chat", input: "hi", tools: [{ type: "file_search" }] },
      { model: "mock/chat", input: [{ type: "item_reference", id: "msg_1" }] },
    ],
    "POST /v1/responses/input_tokens": [
      { model: "mock/chat", input: "hi" },
      { model: "none/such", input: "hi" },
      { model: "mock/chat", input: [] },
    ],
    "POST /v1/embeddings": [
      ...[...models, ...failing].map((model) => ({ model, input: "say hi" })),
      { model: "mock/embed", input: ["a", "b"], encoding_format: "base64", dimensions: 8 },
      { model: "mock/embed", input: [[1, 2], [3]] },
      { model: "none/such", input: "hi" },
      { model: "mock/embed", input: [] },
      { model: "mock/embed" },
    ],
    "POST /v1/completions": [
      ...[...models, ...failing].map((model) => ({ model, prompt: "say hi" })),
      ...[...models, ...failing].map((model) => ({ model, prompt: "say hi", stream: true })),
      { model: "mock/chat", prompt: ["a", "b"] },
      { model: "none/such", prompt: "hi" },
      { model: "mock/chat" },
    ],
    "POST /v1/fim/completions": [
      ...[...models, ...failing].map((model) => ({ model, prompt: "say hi", suffix: "there" })),
      { model: "mock/chat", prompt: "say hi", stream: true },
      { model: "none/such", prompt: "hi" },
      { model: "mock/chat", prompt: 1 },
    ],
    "POST /v1/rerank": [
      ...[...models, ...failing].map((model) => ({ model, query: "q", documents: ["a"] })),
      { model: "mock/rerank", query: "q", documents: ["a", "b"], return_documents: true },
      { model: "mock/rerank", query: "q", documents: ["a", "b"], top_k: 1 },
      { model: "mock/rerank", query: "q", documents: [] },
    ],
    "POST /v2/rerank": [
      { model: "mock/rerank", query: "q", documents: ["a", "b"], top_n: 1 },
      { model: "none/such", query: "q", documents: ["a"] },
      { model: "mock/rerank", documents: ["a"] },
    ],
    "POST /v1/score": [
      { model: "mock/rerank", text_1: "q", text_2: ["a", "b"] },
      { model: "none/such", text_1: "q", text_2: "a" },
      { model: "mock/rerank", text_1: ["a", "b", "c"], text_2: ["a", "b"] },
    ],
    "POST /v1/moderations": [
      ...[...models, ...failing].map((model) => ({ model, input: "say hi" })),
      { model: "mock/moderation", input: ["a", "violence"] },
      { model: "mock/moderation", input: [] },
    ],
    "POST /v1/decisions": [
      { model: "mock/decision", input: "a red cat", questions: [{ type: "predicate", instructions: "cat" }] },
      { model: "none/such", input: "a", questions: [{ type: "predicate", instructions: "cat" }] },
      { model: "mock/decision", input: "a", questions: [] },
    ],
    "POST /v1/interactions": [
      ...[...models, ...failing].map((model) => ({ model, input: "say hi" })),
      { model: "mock/tools", input: "say hi", tools: [{ type: "function", name: "hi" }] },
      { model: "mock/chat", input: [] },
      { model: "mock/chat", input: "hi", previous_interaction_id: "v1_none" },
      { model: "none/such", input: "hi" },
    ],
    "POST /v1beta/cachedContents": [
      { model: "mock/chat", contents: [{ role: "user", parts: [{ text: "hi" }] }], ttl: "60s" },
      { model: "none/such", contents: [] },
      { model: "mock/chat" },
    ],
    "POST /v1/images/generations": [
      { model: "mock/image", prompt: "a red cat", n: 2 },
      { model: "mock/image", prompt: "a red cat", n: 0 },
    ],
    "POST /v1/images/edits": [
      { model: "mock/image", prompt: "red", images: [{ image_url: "data:image/png;base64,aGk=" }] },
      { model: "mock/image", prompt: "red" },
    ],
    "POST /v1/images/variations": [
      { model: "mock/image", image: "data:image/png;base64,aGk=" },
      { model: "mock/image" },
    ],
    "POST /v1/audio/speech": [
      { model: "none/such", input: "hi" },
      { model: "mock/speech", input: "" },
    ],
    "POST /v1/audio/transcriptions": [
      { model: "mock/transcription", file: { filename: "a.wav", bytes: 1 } },
      { model: "mock/transcription" },
    ],
    "POST /v1/audio/translations": [{ model: "mock/transcription", file: { filename: "a.wav", bytes: 1 } }],
    "POST /v1/chat/moderations": [
      { model: "mock/moderation", input: hi },
      { model: "mock/moderation", input: [hi, hi] },
      { model: "mock/moderation", input: "hi" },
    ],
    "POST /api/chat": [
      ...[...models, ...failing].map((model) => ({ model, messages: hi })),
      ...["mock/tools", "mock/reason", "mock/echo"].map((model) => ({
        ...{ model, messages: hi, tools: tools.slice(0, 1), think: true, options: { stop: ["hi"] } },
      })),
      { model: "mock/chat", messages: [] },
      { model: "mock/chat:latest", keep_alive: 0 },
      { model: "none/such", messages: hi },
      { model: "none/such" },
      { model: "x".repeat(300), messages: hi },
      { model: "mock/chat", messages: hi, Options: {} },
      { model: "mock/chat", messages: [{ role: "user", content: "x", images: ["x"] }] },
    ],
    "POST /api/generate": [
      ...[...models, ...failing].map((model) => ({ model, prompt: "say hi" })),
      { model: "mock/reason", prompt: "say hi", system: "s", think: "high", format: "json" },
      { model: "mock/chat" },
      { model: "none/such", prompt: "say hi" },
      { model: "mock/chat", prompt: 1 },
    ],
    "POST /api/embed": [
      ...[...models, ...failing].map((model) => ({ model, input: "say hi" })),
      { model: "mock/embed", input: ["a", "b"], dimensions: 8, truncate: true, keep_alive: "5m" },
      { model: "none/such", input: "hi" },
      { model: "mock/embed", input: [] },
      { model: "mock/embed" },
    ],
    "POST /api/embeddings": [{ model: "mock/embed", prompt: "hi" }, { model: "mock/embed" }],
    "POST /api/show": [
      { model: "mock/chat" },
      { name: "mock/chat:latest" },
      { model: "none/such" },
      { model: "x".repeat(300) },
      { model: "" },
    ],
    "GET /api/tags": [""],
    "GET /api/ps": [""],
    "GET /api/version": [""],
    "POST /v1beta/models/{model}:generateContent": [
      ...[...models, ...failing].map((model) => ({ model, contents: said })),
      ...["mock/tools", "mock/reason", "mock/echo"].map((model) => ({
        ...{ model, contents: said, tools: [{ functionDeclarations: [{ name: "look" }] }] },
        generationConfig: {
          stopSequences: ["hi"],
          thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" },
        },
      })),
      { model: "none/such", contents: said },
      { model: "x".repeat(300), contents: said },
      { model: "mock/chat", contents: [] },
      { model: "mock/chat", contents: said, tools: [{ googleSearch: {} }] },
      { model: "mock/chat", contents: [{ parts: [{}] }] },
    ],
    "POST /v1beta/models/{model}:streamGenerateContent": [
      ...[...models, ...failing].map((model) => ({ model, contents: said })),
      ...["mock/tools", "mock/reason"].map((model) => ({ model, behind: "?alt=sse", contents: said })),
      { model: "none/such", contents: said },
      { model: "mock/chat", contents: said, generationConfig: { temperature: 3 } },
    ],
    "POST /v1beta/models/{model}:countTokens": [
      { model: "mock/chat", contents: said },
      { model: "mock/chat", generateContentRequest: { model: "models/mock/chat", contents: said } },
      { model: "none/such", contents: said },
      { model: "mock/chat", contents: [] },
    ],
    "POST /v1beta/models/{model}:batchEmbedContents": [
      { model: "mock/embed", requests: [said[0]!, said[0]!].map((content) => ({ content })) },
      { model: "mock/embed", requests: [] },
      { model: "none/such", requests: [{ content: said[0]! }] },
    ],
    "POST /v1beta/models/{model}:embedContent": [
      { model: "mock/embed", content: said[0]!, outputDimensionality: 8 },
      { model: "mock/embed" },
      { model: "mock/error-429", content: said[0]! },
    ],
    "GET /v1beta/models": ["", "?pageSize=1", "?pageToken=1", "?pageToken=x"],
    "GET /v1beta/models/{id}": ["mock%2Fchat", "mock/echo", "none%2Fsuch"],
    "POST /v1/explain": [
      { model: "mock/chat", messages: hi },
      { model: "mock/chat", contents: said },
      { model: "mock/chat", input: "hi" },
      { model: "gpt-4.1", messages: hi },
      { model: "mock/chat", messages: hi, system: "s" },
      { model: "none/such", messages: hi },
    ],
    "POST /v1/responses/compact": [
      { model: "mock/chat", input: [{ role: "user", content: "hi" }] },
      { model: "none/such", input: "hi" },
      { model: "mock/chat" },
    ],
    "GET /v1/responses/{id}": ["resp_none", "resp_none?stream=true", "a.b"],
    "DELETE /v1/responses/{id}": ["resp_none"],
    "POST /v1/responses/{id}/cancel": ["resp_none"],
    "GET /v1/responses/{id}/input_items": ["resp_none", "resp_none?limit=0"],
    "POST /v1/conversations": [{ items: [{ role: "user", content: "hi" }] }, { metadata: 5 }, { items: [1] }],
    "GET /v1/conversations/{id}": ["conv_none"],
    "POST /v1/conversations/{id}": ["conv_none"],
    "DELETE /v1/conversations/{id}": ["conv_none"],
    "GET /v1/conversations/{id}/items": ["conv_none", "conv_none?limit=0"],
    "POST /v1/conversations/{id}/items": ["conv_none"],
    "GET /v1/conversations/{id}/items/{item}": ["conv_none"],
    "DELETE /v1/conversations/{id}/items/{item}": ["conv_none"],
    "GET /v1/interactions/{id}": ["v1_none", "v1_none?stream=true", "a.b"],
    "DELETE /v1/interactions/{id}": ["v1_none"],
    "POST /v1/interactions/{id}/cancel": ["v1_none"],
    "GET /v1beta/cachedContents": ["", "?pageSize=2", "?pageSize=none"],
    "GET /v1beta/cachedContents/{id}": ["none", "a.b"],
    "PATCH /v1beta/cachedContents/{id}": ["none"],
    "DELETE /v1beta/cachedContents/{id}": ["none"],
    "GET /v1/models": ["", "?limit=1", "?after_id=mock%2Fchat", "?limit=none"],
    "GET /v1/models/{id}": ["mock%2Fchat", "mock/echo", "none%2Fsuch", "", "%ff"],
    "GET /v1/key": ["", "?other=1"],
    "GET /openapi.json": [""],
    "GET /llms.txt": [""],
    "GET /llms-full.txt": [""],
    "GET /health": [""],
    "GET /healthz": [""],
    "GET /readyz": [""],
    "GET /": [""],
    "HEAD /": [""],
    "GET /api/hello": [""],
    "HEAD /api/hello": [""],
  };

  test("every operation has samples", () => {
    expect(Object.keys(SAMPLES).sort()).toEqual(Object.keys(OFFERED).sort());
  });

  for (const [name, samples] of Object.entries(SAMPLES)) {
    const [method, path] = name.split(" ") as [string, string];
    test(
      name,
      async () => {
        const found: string[] = [];
        const check = async (what: string, response: Response) => {
          for (const fault of await undocumented(name, response)) found.push(`${what}: ${fault}`);
        };
        for (const sample of samples) {
          if (typeof sample === "string") {
            const target = path.includes("{id}") ? path.replace("{id}", sample) : path + sample;
            await check(sample, await fetch(keyed.url + target, { method, headers: { "x-api-key": KEY } }));
            continue;
          }
          if (SLOW.test(String(sample.model).slice("mock/".length))) continue;
          const streams = name.includes("count") || name.includes("explain") ? [false] : [false, true];
          for (const stream of path.includes("{model}") ? [undefined] : streams) {
            const { behind = "", ...body } = stream === undefined ? sample : { ...sample, stream };
            const target = path.replace("{model}", String(sample.model)) + String(behind);
            await check(JSON.stringify(sample), await fetch(keyed.url + target, post(body)));
          }
        }
        if (method === "POST") {
          const init = post({});
          const target = keyed.url + path.replace("{model}", "mock/chat");
          await check("no key", await fetch(target, { ...init, headers: {} }));
          await check("text", await fetch(target, { ...init, headers: { authorization: `Bearer ${KEY}` } }));
          await check("no JSON", await fetch(target, { ...init, body: "{" }));
        }
        expect(found).toEqual([]);
      },
      30_000,
    );
  }
});

/** The share of recorded answers and events of providers that the schema describes. */
function describedShare(api: "chat" | "messages", { event, answer, error }: ClientSchemas): number {
  const checks = someOf(recordings({ api }))
    .filter(({ response }) => response.status < 300 && response.body !== undefined)
    .flatMap(({ framing, response: { body } }): [JsonObject, Json | undefined][] =>
      framing === "sse"
        ? parseFrames(Buffer.from(body!)).map(({ data }) => [{ anyOf: [event, error] }, parseJson(data)])
        : [[answer, parseJson(body!)]],
    )
    .filter((check): check is [JsonObject, JsonObject] => isObject(check[1]));
  expect(checks.length).toBeGreaterThan(IS_LONG ? 1000 : 100);
  return checks.filter(([schema, value]) => schemaFaults(schema, value).length === 0).length / checks.length;
}

describe(`answers of providers, which the native lane passes on${haveRecordings ? "" : `: ${NO_RECORDINGS}`}`, () => {
  for (const [api, format] of [
    ["chat", chatCompletionsFormat],
    ["messages", messagesFormat],
  ] as const)
    test.if(haveRecordings)(`${api}: the schemas describe 99% of the recorded ones`, () => {
      expect(describedShare(api, format.client.request.schemas!)).toBeGreaterThan(0.99);
    });
});
