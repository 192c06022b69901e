/** Every error there is, as the vendors' own SDKs see it: typed, with a sentence and an id, never a page or a stack. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { type Answer, json, silence, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { exchangeRaw, KEY, startBinary } from "./armour.ts";
import { goal } from "./goals.ts";
import { streamedText } from "../helpers/streamed.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startBinary({
    config: {
      ...upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
      keys: [`tester:${KEY}`],
      retries: { attempts: 1 },
      limits: { bodyMs: 700, bodyRate: 65_536, callsPerClient: 20 },
      timeouts: { firstByteMs: 1_200, holdMs: 10_000 },
    },
  });
}, 600_000);

afterAll(async () => {
  await gateway?.stop();
  upstream?.stop();
});

const STATUSES = [
  400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423,
  424, 425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 507, 508, 510, 511, 520, 522, 524,
  529, 530, 599,
];

/** What stands behind a failed status; the last ones are what proxies and dying servers send. */
const BODIES: Record<string, (status: number) => Answer> = {
  "OpenAI's shape": (status) =>
    json({ error: { message: "it failed", type: "some_error", param: null, code: null } }, status),
  "Anthropic's shape": (status) =>
    json({ type: "error", error: { type: "some_error", message: "it failed" } }, status),
  "another shape": (status) => json({ detail: [{ msg: "it failed" }] }, status),
  "a list": (status) => json([1], status),
  "a page": (status) => ({
    status,
    headers: { "content-type": "text/html" },
    body: "<html><body>it failed at 10.0.0.7</body></html>",
  }),
  nothing: (status) => ({ status, body: "" }),
  "cut off": (status) => ({
    status,
    headers: { "content-type": "application/json" },
    body: '{"error":',
    length: 900,
    framing: "length",
    ending: "fin",
  }),
  garbage: (status) => ({
    status,
    headers: { "content-type": "application/json" },
    body: new Uint8Array([0xff, 0, 1, 2]),
  }),
};

interface SeenError {
  typed: boolean;
  status: number | undefined;
  message: string;
  requestId: unknown;
}

const SDKS = {
  openai: async (model: string, stream: boolean): Promise<SeenError> => {
    const client = openaiClient(gateway.url, { apiKey: KEY });
    const thrown = await failure(async () => {
      const answer = await client.chat.completions.create({
        model,
        stream,
        messages: [{ role: "user", content: "x" }],
      });
      if (stream) for await (const _ of answer as AsyncIterable<unknown>);
    });
    const typed = thrown instanceof OpenAI.APIError;
    return describe(thrown, typed);
  },
  anthropic: async (model: string, stream: boolean): Promise<SeenError> => {
    const client = anthropicClient(gateway.url, { apiKey: KEY });
    const thrown = await failure(async () => {
      const answer = await client.messages.create({
        model,
        stream,
        max_tokens: 9,
        messages: [{ role: "user", content: "x" }],
      });
      if (stream) for await (const _ of answer as AsyncIterable<unknown>);
    });
    return describe(thrown, thrown instanceof Anthropic.APIError);
  },
};

async function failure(run: () => Promise<unknown>): Promise<unknown> {
  try {
    await run();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

function describe(thrown: unknown, typed: boolean): SeenError {
  const { status, message, requestID } = (thrown ?? {}) as {
    status?: number;
    message?: string;
    requestID?: unknown;
  };
  return { typed, status, message: message ?? "", requestId: requestID };
}

/** What is wrong with an error as an SDK shows it; undefined when nothing is. */
function faultOf({ typed, status, message, requestId }: SeenError): string | undefined {
  if (!typed) return `no API error: ${message}`;
  if (status === undefined || status < 400 || status > 599) return `status ${status}`;
  if (typeof requestId !== "string" || !requestId.startsWith("req_"))
    return `request id ${String(requestId)}`;
  if (message.length < 6 || /<html|\bat \w+ \(|node_modules|10\.0\.0\.7|no body/.test(message))
    return `says ${message}`;
  return undefined;
}

goal(
  29,
  "errors in the client's dialect",
  "every 4xx and 5xx of an upstream typed by both SDKs, with a request id and a sentence; nothing else passes",
  async () => {
    const wrong: string[] = [];
    let errors = 0;
    for (const [sdk, call] of Object.entries(SDKS))
      for (const model of ["openai/m", "anthropic/m"])
        for (const [what, body] of Object.entries(BODIES)) {
          for (const status of STATUSES) {
            upstream.answer(() => body(status));
            errors++;
            const seen = await call(model, status % 2 === 0);
            const fault = faultOf(seen);
            if (fault) wrong.push(`${sdk} to ${model}, ${status} with ${what}: ${fault}`);
          }
        }
    for (const sentence of wrong.slice(0, 12)) console.log(sentence);
    return {
      measured: `${STATUSES.length} statuses × ${Object.keys(BODIES).length} bodies × 2 SDKs × 2 upstreams: ${errors} errors, ${wrong.length} wrong`,
      holds: wrong.length === 0,
    };
  },
  600_000,
);

/** The shape of each route's errors. */
const DIALECTS: Record<string, object> = {
  "/v1/chat/completions": { error: { message: expect.any(String), type: expect.any(String), param: null } },
  "/v1/messages": {
    type: "error",
    error: { type: expect.any(String), message: expect.any(String) },
    request_id: expect.stringMatching(/^req_/),
  },
};

/** The body of an error; the parameter it names, if any, does not matter here. */
function withoutParam(text: string): object {
  const body = JSON.parse(text) as { error: Record<string, unknown> };
  if ("param" in body.error) body.error["param"] = null;
  return body;
}

const good = (model: string) =>
  JSON.stringify({ model, max_tokens: 9, messages: [{ role: "user", content: "x" }] });

for (const [path, shape] of Object.entries(DIALECTS)) {
  test(`${path}: the gateway's own errors, each in the dialect`, async () => {
    const ask = (body: string, headers: Record<string, string> = {}, method = "POST") =>
      fetch(gateway.url + path, {
        method,
        headers: { "content-type": "application/json", "x-api-key": KEY, ...headers },
        ...(method === "POST" && { body }),
      });
    upstream.answer(silence);
    const cases: [status: number, response: Promise<Response>][] = [
      [400, ask("{")],
      [400, ask("{}")],
      [401, ask(good("mock/echo"), { "x-api-key": "wrong" })],
      [404, ask(good("no-such-model"))],
      [405, ask("", {}, "GET")],
      [413, ask(" ".repeat(34_000_000))],
      [415, ask("x", { "content-type": "text/plain" })],
      [504, ask(good(path === "/v1/messages" ? "anthropic/m" : "openai/m"))],
    ];
    for (const [status, pending] of cases) {
      const response = await pending;
      const text = await streamedText(response);
      expect([response.status, withoutParam(text)]).toMatchObject([status, shape]);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(response.headers.get("x-request-id")).toStartWith("req_");
    }
  });

  test(`${path}: an upload that stalls or dribbles is a 408 in the dialect, and the connection is closed`, async () => {
    const head = (framing: string) =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\nx-api-key: ${KEY}\r\n${framing}\r\n\r\n`;
    const stalled = [
      `${head("content-length: 5000")}{"model":`,
      `${head("content-length: 5000000")}{`,
      `${head("transfer-encoding: chunked")}5\r\n{"mod\r\n`,
      `${head("content-length: 900\r\ncontent-encoding: gzip")}\x1f\x8b`,
    ];
    const answers = await Promise.all(stalled.map((bytes) => exchangeRaw(gateway.port, bytes)));
    for (const { statuses, closed, text } of answers) {
      expect([statuses, closed]).toEqual([[408], true]);
      expect(withoutParam(text.slice(text.indexOf("\r\n\r\n") + 4))).toMatchObject(shape);
      expect(text.toLowerCase()).toContain("connection: close");
    }
  });

  test(`${path}: one call too many of one client is a 429 that says when to come back, and its place is free again`, async () => {
    upstream.answer(silence);
    const model = path === "/v1/messages" ? "anthropic/m" : "openai/m";
    const ask = (name: string) =>
      fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": KEY },
        body: good(name),
      });
    const before = upstream.requests.length;
    const held = Array.from({ length: 20 }, () => ask(model));
    await upstream.arrived(before + 20);
    const refused = await ask("mock/echo");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(withoutParam(await refused.text())).toMatchObject(shape);
    await Promise.all(held);
    expect((await ask("mock/echo")).status).toBe(200);
  });
}

test("with as many calls in flight as the gateway takes, one more is a 503", async () => {
  const own = await startBinary({
    config: {
      ...upstreamConfig({ openai: upstream.url }),
      limits: { calls: 3 },
      timeouts: { firstByteMs: 1_000 },
    },
  });
  try {
    upstream.answer(silence);
    const before = upstream.requests.length;
    const ask = (model: string) =>
      fetch(`${own.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: good(model),
      });
    const held = Array.from({ length: 3 }, () => ask("openai/m"));
    await upstream.arrived(before + 3);
    const refused = await ask("mock/echo");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    await Promise.all(held);
    expect((await ask("mock/echo")).status).toBe(200);
  } finally {
    await own.stop();
  }
});
