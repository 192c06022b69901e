/** Bad input: each a clear error in the right dialect, with a request id, and the gateway lives on. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";

const KEY = "a-gateway-key-for-tests-1234";

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ config: { keys: [`tester:${KEY}`] } });
});

afterAll(() => gateway.stop());

afterEach(async () => {
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
});

interface Case {
  why: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  status: number;
  /** Part of the sentence. */
  says: string;
  chunked?: boolean;
}

const good = (model: string, more: object = {}) =>
  JSON.stringify({ model, max_tokens: 9, messages: [{ role: "user", content: "hi" }], ...more });

const MEGABYTES_33 = 33 * 1024 * 1024;

const CASES: readonly Case[] = [
  { why: "malformed JSON", body: '{"model": "x",}', status: 400, says: "not valid JSON" },
  { why: "an empty body", body: "", status: 400, says: "empty" },
  { why: "a body that is no object", body: "[1]", status: 400, says: "one JSON object" },
  { why: "a body that is null", body: "null", status: 400, says: "one JSON object" },
  { why: "two JSON values", body: "{}{}", status: 400, says: "not valid JSON" },
  {
    why: "depth of a million",
    body: `{"model":"mock/echo","a":${"[".repeat(1_000_000)}`,
    status: 400,
    says: "deeper",
  },
  { why: "a body of 33 MB", body: new Uint8Array(MEGABYTES_33).fill(32), status: 413, says: "larger than" },
  {
    why: "a chunked body of 33 MB",
    body: new Uint8Array(MEGABYTES_33).fill(32),
    status: 413,
    says: "larger than",
    chunked: true,
  },
  {
    why: "a zipped bomb",
    body: gzipSync(new Uint8Array(MEGABYTES_33)),
    headers: { "content-encoding": "gzip" },
    status: 413,
    says: "larger than",
  },
  {
    why: "a body that claims to be zipped",
    body: good("mock/echo"),
    headers: { "content-encoding": "gzip" },
    status: 400,
    says: "gzip",
  },
  {
    why: "an unknown content encoding",
    body: "x",
    headers: { "content-encoding": "rot13" },
    status: 415,
    says: "rot13",
  },
  {
    why: "a wrong content type",
    body: good("mock/echo"),
    headers: { "content-type": "text/plain" },
    status: 415,
    says: "application/json",
  },
  {
    why: "a form",
    body: "a=b",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    status: 415,
    says: "application/json",
  },
  {
    why: "a content type that only looks like JSON",
    body: good("mock/echo"),
    headers: { "content-type": "application/jsonx" },
    status: 415,
    says: "application/json",
  },
  {
    why: "a model named twice",
    body: '{"model":"mock/echo","model":"openai/x","messages":[]}',
    status: 400,
    says: "twice",
  },
  {
    why: "a model named twice with an escape",
    body: '{"model":"mock/echo","mod\\u0065l":"x","messages":[]}',
    status: 400,
    says: "twice",
  },
  {
    why: "bad UTF-8",
    body: Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    status: 400,
    says: "UTF-8",
  },
  {
    why: "no model",
    body: JSON.stringify({ max_tokens: 9, messages: [{ role: "user", content: "hi" }] }),
    status: 400,
    says: "model",
  },
  { why: "a model that is no string", body: good("x").replace('"x"', "7"), status: 400, says: "model" },
  { why: "an unknown model", body: good("no-such-model"), status: 404, says: "no-such-model" },
  { why: "an unknown mock model", body: good("mock/no-such"), status: 404, says: "no-such" },
  {
    why: "a model name with control characters",
    body: good("a\u0000b\r\nx: y"),
    status: 404,
    says: "No provider serves",
  },
  {
    why: "no messages",
    body: JSON.stringify({ model: "mock/echo", max_tokens: 9 }),
    status: 400,
    says: "messages",
  },
  { why: "empty messages", body: good("mock/echo", { messages: [] }), status: 400, says: "messages" },
  {
    why: "messages that are no list",
    body: good("mock/echo", { messages: "hi" }),
    status: 400,
    says: "messages",
  },
  {
    why: "an unknown role",
    body: good("mock/echo", { messages: [{ role: "wizard", content: "x" }] }),
    status: 400,
    says: "role",
  },
  {
    why: "content that is a number",
    body: good("mock/echo", { messages: [{ role: "user", content: 7 }] }),
    status: 400,
    says: "content",
  },
  { why: "max_tokens of zero", body: good("mock/echo", { max_tokens: 0 }), status: 400, says: "max_tokens" },
  {
    why: "max_tokens below zero",
    body: good("mock/echo", { max_tokens: -1 }),
    status: 400,
    says: "max_tokens",
  },
  {
    why: "max_tokens of a half",
    body: good("mock/echo", { max_tokens: 0.5 }),
    status: 400,
    says: "max_tokens",
  },
  {
    why: "temperature over two",
    body: good("mock/echo", { temperature: 2.1 }),
    status: 400,
    says: "temperature",
  },
  {
    why: "temperature as text",
    body: good("mock/echo", { temperature: "hot" }),
    status: 400,
    says: "temperature",
  },
  { why: "stream as text", body: good("mock/echo", { stream: "yes" }), status: 400, says: "stream" },
];

const DIALECTS = [
  { path: "/v1/chat/completions", sentence: openAiSentence },
  { path: "/v1/messages", sentence: anthropicSentence },
] as const;

function openAiSentence(body: unknown): string {
  const { error } = body as { error: { message: string; type: string; param: unknown; code: unknown } };
  expect(Object.keys(body as object)).toEqual(["error"]);
  expect(error.type).toBeString();
  expect(error.param === null || typeof error.param === "string").toBe(true);
  expect(error.code === null || typeof error.code === "string").toBe(true);
  return error.message;
}

function anthropicSentence(body: unknown): string {
  const envelope = body as { type: string; error: { type: string; message: string }; request_id: string };
  expect(envelope.type).toBe("error");
  expect(envelope.error.type).toBeString();
  expect(envelope.request_id).toStartWith("req_");
  return envelope.error.message;
}

function stream(bytes: string | Uint8Array): ReadableStream<Uint8Array> {
  const all = Buffer.from(bytes as Uint8Array);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= all.length) return controller.close();
      controller.enqueue(all.subarray(at, (at += 1 << 20)));
    },
  });
}

for (const { path, sentence } of DIALECTS) {
  describe(path, () => {
    for (const { why, body, headers, status, says, chunked } of CASES) {
      test(why, async () => {
        const response = await fetch(gateway.url + path, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${KEY}`, ...headers },
          body: (chunked ? stream(body ?? "") : body) as BodyInit,
        });
        const text = await response.text();
        expect([response.status, text]).toEqual([status, expect.stringContaining(says)]);
        expect(sentence(JSON.parse(text))).toContain(says);
        expect(response.headers.get("content-type")).toBe("application/json");
        expect(response.headers.get("x-request-id")).toStartWith("req_");
        expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
        expect(text).not.toMatch(/\bat \w+ \(|node_modules|src\//);
      });
    }

    test("keys: missing, wrong, and right in either header, before the body is read", async () => {
      const send = (headers: Record<string, string>, body: string) =>
        fetch(gateway.url + path, { method: "POST", headers, body });
      const json = { "content-type": "application/json" };
      const refused: Record<string, string>[] = [
        {},
        { authorization: "Bearer nope" },
        { "x-api-key": "" },
        { authorization: "Basic eDp5" },
      ];
      for (const headers of refused) {
        const response = await send({ ...json, ...headers }, "this is not even JSON");
        expect(response.status).toBe(401);
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
        expect(sentence(await response.json())).toContain("key");
      }
      const accepted: Record<string, string>[] = [{ authorization: `bearer ${KEY}` }, { "x-api-key": KEY }];
      for (const headers of accepted)
        expect((await send({ ...json, ...headers }, good("mock/echo"))).status).toBe(200);
    });

    test("when both headers differ, the dialect's own decides", async () => {
      const other = path === "/v1/messages" ? "authorization" : "x-api-key";
      const own = path === "/v1/messages" ? "x-api-key" : "authorization";
      const written = (name: string, key: string): Record<string, string> => ({
        [name]: name === "authorization" ? `Bearer ${key}` : key,
      });
      const send = async (headers: Record<string, string>) =>
        (
          await fetch(gateway.url + path, {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body: good("mock/echo"),
          })
        ).status;
      expect(await send({ ...written(own, KEY), ...written(other, "wrong") })).toBe(200);
      expect(await send({ ...written(own, "wrong"), ...written(other, KEY) })).toBe(401);
    });

    test("a wrong method, and an unknown path beneath", async () => {
      const wrong = await fetch(gateway.url + path);
      expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
      expect(sentence(await wrong.json())).toContain("use POST");
      const unknown = await fetch(`${gateway.url + path}/nothing-here`, { method: "POST", body: "{}" });
      expect(unknown.status).toBe(404);
      expect(sentence(await unknown.json())).toContain("nothing-here");
    });

    test("the query string is ignored, and zipped bodies are read", async () => {
      const send = (body: string | Uint8Array, headers: Record<string, string>) =>
        fetch(`${gateway.url + path}?beta=true&x=%ff`, {
          method: "POST",
          headers: { "content-type": "Application/JSON; charset=utf-8", "x-api-key": KEY, ...headers },
          body: body as BodyInit,
        });
      expect((await send(good("mock/echo"), {})).status).toBe(200);
      expect((await send(gzipSync(good("mock/echo")), { "content-encoding": "gzip" })).status).toBe(200);
      expect((await send(zstdCompressSync(good("mock/echo")), { "content-encoding": "zstd" })).status).toBe(
        200,
      );
    });

    test("null for an optional field counts as absent", async () => {
      const optional = [
        "temperature",
        "top_p",
        "stream",
        "tools",
        "tool_choice",
        "stop",
        "system",
        "metadata",
        "n",
        "stop_sequences",
        "thinking",
        "response_format",
        "user",
      ];
      const body = good("mock/echo", Object.fromEntries(optional.map((name) => [name, null])));
      const response = await fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": KEY },
        body,
      });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("hi")]);
    });
  });
}

test("messages: max_tokens must be there, and a system prompt has its own place", async () => {
  const send = async (body: object) => {
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": KEY },
      body: JSON.stringify(body),
    });
    return [response.status, await response.text()] as const;
  };
  const user = { role: "user", content: "hi" };
  const system = { role: "system", content: "be kind" };
  expect(await send({ model: "mock/echo", messages: [user] })).toEqual([
    400,
    expect.stringContaining("max_tokens: Field required"),
  ]);
  expect(await send({ model: "mock/echo", max_tokens: 9, messages: [system, user] })).toEqual([
    400,
    expect.stringContaining("top-level"),
  ]);
  expect((await send({ model: "mock/echo", max_tokens: 9, messages: [user, system] }))[0]).toBe(200);
  expect((await send({ model: "mock/echo", max_tokens: 9, system: "be kind", messages: [user] }))[0]).toBe(
    200,
  );
});

test("neutral paths: unknown, wrong method, and a model that does not exist", async () => {
  const headers = { "x-api-key": KEY };
  const unknown = await fetch(`${gateway.url}/nope`, { headers });
  expect([unknown.status, openAiSentence(await unknown.json())]).toEqual([
    404,
    expect.stringContaining("/nope"),
  ]);
  const wrong = await fetch(`${gateway.url}/v1/models`, { method: "DELETE", headers });
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET"]);
  const model = await fetch(`${gateway.url}/v1/models/no%2Fsuch`, { headers });
  expect([model.status, openAiSentence(await model.json())]).toEqual([
    404,
    expect.stringContaining("no/such"),
  ]);
  const keyless = await fetch(`${gateway.url}/v1/models`);
  expect([keyless.status, openAiSentence(await keyless.json())]).toEqual([
    401,
    expect.stringContaining("key"),
  ]);
});

test("probes need no key and answer with an empty 200", async () => {
  for (const path of ["/", "/api/hello"]) {
    const response = await fetch(gateway.url + path, { method: "HEAD" });
    expect(response.status).toBe(200);
    expect(response.headers.get("request-id")).toStartWith("req_");
  }
});

test("the document of the endpoints is made from the schemas that check", async () => {
  const response = await fetch(`${gateway.url}/openapi.json`, { headers: { "x-api-key": KEY } });
  const document = (await response.json()) as {
    openapi: string;
    paths: object;
    components: { schemas: Record<string, { required: string[]; properties: object }> };
  };
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(["/v1/chat/completions", "/v1/messages", "/v1/models"]),
  );
  expect(document.components.schemas["MessagesRequest"]?.required).toContain("max_tokens");
  expect(document.components.schemas["ChatCompletionsRequest"]?.required).toEqual(
    expect.arrayContaining(["model", "messages"]),
  );
});
