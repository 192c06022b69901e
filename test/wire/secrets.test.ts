/** What must not cross the gateway: credentials, unlisted headers, hosts, stacks. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { CANARY } from "../../plugins/mock/index.ts";
import { type RunningGateway, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { seededRandom } from "../helpers/recordings.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

const CLIENT_KEY = "client-canary-0123456789abcdef";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const config = {
    ...upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
    keys: [`tester:${CLIENT_KEY}`],
  };
  gateway = await startGateway({ config });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const ROUTES = [
  {
    path: "/v1/chat/completions",
    model: "openai/m",
    answer: { id: "c", object: "chat.completion", created: 1, model: "m", choices: [], usage: null },
  },
  {
    path: "/v1/messages",
    model: "anthropic/m",
    answer: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
] as const;

/** A whole answer with this text. */
function repeating(path: string, text: string): object {
  if (path === "/v1/messages")
    return {
      ...{ id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn" },
      content: [{ type: "text", text }],
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  const message = { role: "assistant", content: text };
  return {
    ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/** A stream with this text in one event. */
function streaming(path: string, text: string): string {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const events: { type?: string; [member: string]: unknown }[] =
    path === "/v1/messages"
      ? [
          { type: "message_start", message: { ...repeating(path, ""), content: [], stop_reason: null } },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
          { type: "message_stop" },
        ]
      : [
          { ...head, choices: [{ index: 0, delta: { role: "assistant", content: text } }] },
          { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
        ];
  const frames = events.map(
    (event) => `${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
  );
  return frames.join("") + (path === "/v1/messages" ? "" : "data: [DONE]\n\n");
}

const send = (path: string, model: string, headers: Record<string, string> = {}, more: object = {}) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${CLIENT_KEY}`, ...headers },
    body: JSON.stringify({
      model,
      max_tokens: 9,
      messages: [{ role: "user", content: "the prompt canary" }],
      ...more,
    }),
  });

const random = seededRandom(7);

/** 200 names nobody has listed, some of them near to those that are. */
const UNLISTED = Array.from({ length: 200 }, () => {
  const beginnings = ["x-", "openai-", "anthropic-", "retry-", "x-request-", "x-should-", "cf-", ""];
  const beginning = beginnings[Math.floor(random() * beginnings.length)]!;
  return `${beginning}${Math.floor(random() * 2 ** 48).toString(36)}z`;
});

/** The server takes fewer than 128 headers a request. */
const BATCHES = [UNLISTED.slice(0, 70), UNLISTED.slice(70, 140), UNLISTED.slice(140)];

/** Names a header filter could be fooled by. */
const ODD = Object.fromEntries([
  ["cookie", "session=1"],
  ["x-forwarded-for", "10.0.0.1"],
  ["x-forwarded-host", "evil.example"],
  ["forwarded", "for=10.0.0.1"],
  ["x-goog-api-key", "g"],
  ["api-key", "a"],
  ["proxy-authorization", "Basic eA=="],
  ["x-amz-security-token", "t"],
  ["openai-api-key", "o"],
  ["te", "trailers"],
]) as Record<string, string>;

for (const { path, model, answer } of ROUTES) {
  test(`${path}: of the client's headers only the listed ones go upstream, with the gateway's own credential`, async () => {
    upstream.answer(() => json(answer));
    for (const batch of BATCHES) {
      const unlisted = { ...ODD, ...Object.fromEntries(batch.map((name) => [name, "v"])) };
      const response = await send(path, model, { ...unlisted, "anthropic-beta": "b", "openai-beta": "o" });
      expect(response.status).toBe(200);
      const { headers } = upstream.requests.at(-1)!;
      for (const name of Object.keys(unlisted)) expect([name, headers.get(name)]).toEqual([name, null]);
      expect(headers.get(path === "/v1/messages" ? "anthropic-beta" : "openai-beta")).toBeString();
    }
    const { headers } = upstream.requests.at(-1)!;
    const written = JSON.stringify([...headers]);
    expect(written).not.toContain(CLIENT_KEY);
    expect(written).toContain(path === "/v1/messages" ? UPSTREAM_KEYS.anthropic : UPSTREAM_KEYS.openai);
    expect(headers.get("host")).toBe(`127.0.0.1:${upstream.port}`);
  });

  test(`${path}: of the upstream's headers only the listed ones reach the client`, async () => {
    const odd: [string, string][] = [
      ...UNLISTED.map((name): [string, string] => [name, "v"]),
      ["set-cookie", "a=b"],
      ["server", "vendor"],
      ["openai-organization", "org-canary"],
      ["anthropic-organization-id", "org-canary"],
      ["cf-ray", "1"],
      ["via", "1.1 x"],
    ];
    upstream.answer(() => ({
      ...json(answer),
      headers: [["content-type", "application/json"], ["retry-after", "3"], ...odd],
    }));
    const response = await send(path, model);
    expect(response.status).toBe(200);
    for (const [name] of odd) expect([name, response.headers.get(name)]).toEqual([name, null]);
    expect(response.headers.get("retry-after")).toBe("3");
  });

  test(`${path}: a credential never follows a redirect`, async () => {
    const trap = startUpstream(json({}));
    upstream.answer(() => ({ status: 307, headers: { location: `${trap.url}/steal` }, body: "" }));
    const response = await send(path, model);
    expect(response.status).toBe(502);
    expect(await response.text()).not.toContain(String(trap.port));
    expect(trap.requests.length).toBe(0);
    trap.stop();
  });

  test(`${path}: what an upstream or a plugin says in anger does not come out`, async () => {
    upstream.answer(() =>
      json({ error: { message: `key ${UPSTREAM_KEYS.openai} ${UPSTREAM_KEYS.anthropic} refused` } }, 401),
    );
    const texts = [await (await send(path, model)).text(), await (await send(path, "mock/throw")).text()];
    for (const text of texts) {
      for (const secret of [...Object.values(UPSTREAM_KEYS), CANARY, CLIENT_KEY])
        expect(text).not.toContain(secret);
      expect(text).not.toMatch(/127\.0\.0\.1|\.ts:\d+|\bat \w+ \(/);
    }
  });

  test(`${path}: an upstream that repeats the credential in its complaint does not hand it out`, async () => {
    const message = `unknown field for ${UPSTREAM_KEYS.openai} ${UPSTREAM_KEYS.anthropic}`;
    const asked = [path, path === "/v1/messages" ? "/v1/chat/completions" : "/v1/messages"];
    for (const status of [400, 404, 429, 500]) {
      upstream.answer(() => json({ type: "error", error: { message, type: "some_error" } }, status));
      for (const from of asked) {
        const response = await send(from, model);
        expect(response.status).toBeGreaterThanOrEqual(400);
        const own = path === "/v1/messages" ? UPSTREAM_KEYS.anthropic : UPSTREAM_KEYS.openai;
        const text = await response.text();
        expect(text).toContain("unknown field");
        expect(text).not.toContain(own);
      }
    }
  });

  const own = path === "/v1/messages" ? UPSTREAM_KEYS.anthropic : UPSTREAM_KEYS.openai;
  const both = ["/v1/chat/completions", "/v1/messages"];

  test(`${path}: an upstream that repeats the credential in headers of its answer does not hand it out`, async () => {
    const told = {
      "x-ratelimit-limit-requests": `for ${own}`,
      "anthropic-ratelimit-requests-limit": own,
      "openai-version": `Bearer ${own}`,
      "openai-processing-ms": "7",
    };
    for (const status of [200, 400, 429])
      for (const from of both) {
        const failed = { type: "error", error: { type: "x", message: "no" } };
        upstream.answer(() => json(status === 200 ? repeating(path, "hi") : failed, status, told));
        const { headers } = await send(from, model);
        expect(JSON.stringify([...headers])).not.toContain(own);
        if (from === path && path === "/v1/chat/completions") {
          expect(headers.get("x-ratelimit-limit-requests")).toBe("for ***");
          expect(headers.get("openai-processing-ms")).toBe("7");
        }
      }
  });

  test(`${path}: an upstream that repeats the credential in a JSON answer does not hand it out`, async () => {
    upstream.answer(() => json(repeating(path, `you sent ${own}, grüße 😀`)));
    for (const from of both) {
      const response = await send(from, model);
      const text = await response.text();
      expect([from, response.status]).toEqual([from, 200]);
      expect(text).toContain("you sent ***, grüße 😀");
      expect(text).not.toContain(own);
    }
  });

  test(`${path}: an upstream that repeats the credential in a stream does not hand it out, wherever it is cut`, async () => {
    const bytes = Buffer.from(streaming(path, `you sent ${own}, grüße 😀`));
    const key = bytes.indexOf(own);
    const cuts = [1, Math.floor(own.length / 2), own.length - 1].map((length) => key + length);
    for (const cutAt of [0, ...cuts])
      for (const from of both) {
        const pieces = [bytes.subarray(0, cutAt), { wait: 5 }, bytes.subarray(cutAt)];
        upstream.answer(() => sse(pieces));
        const text = await (await send(from, model, {}, { stream: true })).text();
        expect(text).toContain("you sent ***, grüße 😀");
        expect(text).not.toContain(own);
        expect(text).toContain(from === "/v1/messages" ? "message_stop" : "[DONE]");
      }
  });

  test(`${path}: the body never chooses where a request goes`, async () => {
    const trap = startUpstream(json(answer));
    upstream.answer(() => json(answer));
    const body = {
      model,
      max_tokens: 9,
      messages: [{ role: "user", content: "x" }],
      api_base: trap.url,
      base_url: trap.url,
      custom_host: trap.url,
    };
    await fetch(gateway.url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": CLIENT_KEY,
        "x-base-url": trap.url,
        "x-portkey-custom-host": trap.url,
      },
      body: JSON.stringify(body),
    });
    expect(trap.requests.length).toBe(0);
    trap.stop();
  });
}

test("a wrong gateway key is refused in the words of each dialect", async () => {
  const refused = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(gateway.url + path, { method: "POST", headers, body: "{}" });
    const { error } = (await response.json()) as { error: { message: string; type: string; code?: string } };
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    return error;
  };
  const wrong = { authorization: "Bearer wrong" };
  const chat = await refused("/v1/chat/completions", wrong);
  expect(chat).toMatchObject({ type: "invalid_request_error", code: "invalid_api_key" });
  expect(chat.message).toStartWith("Incorrect API key provided");
  const messages = await refused("/v1/messages", wrong);
  expect(messages).toMatchObject({
    type: "authentication_error",
    details: { error_code: "invalid_api_key" },
  });
  const none = await refused("/v1/chat/completions", {});
  expect(none).toMatchObject({ type: "invalid_request_error", code: "invalid_api_key" });
  expect(none.message).toStartWith("No API key was given");
});

test("no log line holds a key or a prompt", async () => {
  await Bun.sleep(100);
  expect(gateway.log.filter((line) => line.startsWith("{")).length).toBeGreaterThan(8);
  const log = gateway.log.join("\n");
  for (const secret of [...Object.values(UPSTREAM_KEYS), CLIENT_KEY, "prompt canary"])
    expect(log).not.toContain(secret);
  expect(log).toContain('"key":"tester"');
});
