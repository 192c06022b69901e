/** What Claude Code's own gateway (2.1.328) answers, asked of weir in the same words. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chatHost, type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { CHAT_ANSWER } from "./support/answers.ts";
import { bearer, IDENTITY, tokenOf } from "./support/signed-in.ts";

setDefaultTimeout(60_000);

const MODEL = "claude-sonnet-4-5";
const MESSAGE = {
  ...{
    id: "m",
    type: "message",
    role: "assistant",
    model: "x",
    stop_reason: "end_turn",
    stop_sequence: null,
  },
  content: [{ type: "text", text: "ok" }],
  usage: { input_tokens: 1, output_tokens: 1 },
};

let anthropic: Upstream;
let chat: Upstream;
let gateway: RunningGateway;
const asked: { body: any; headers: Headers }[] = [];
let answerWith: [unknown, number] = [MESSAGE, 200];

beforeAll(async () => {
  anthropic = startUpstream(({ path, body, headers }) => {
    if (path.includes("count_tokens")) return json({ input_tokens: 3 });
    asked.push({ body: JSON.parse(body.toString()), headers });
    return json(...answerWith, { "anthropic-ratelimit-requests-limit": "10" });
  });
  chat = startUpstream(json(CHAT_ANSWER));
  const { host } = chatHost(chat.url).providers;
  gateway = await startGateway({
    config: {
      providers: { host, anthropic: { baseUrl: anthropic.url, apiKey: "sk-ant-planted" } },
      identity: IDENTITY,
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  anthropic.stop();
  chat.stop();
});

async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const token = await tokenOf("anna");
  const answer = await fetch(gateway.url + path, {
    method,
    headers: { ...bearer(token), "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: /^[{[]/.test(text) ? JSON.parse(text) : text,
  };
}

const messages = (more: object = {}, headers: Record<string, string> = {}) =>
  ask(
    "POST",
    "/v1/messages",
    { model: MODEL, max_tokens: 5, messages: [{ role: "user", content: "hi" }], ...more },
    headers,
  );

test("nothing is configured: 404, without the pair of headers that has another meaning", async () => {
  const { status, headers } = await ask("GET", "/managed/settings");
  expect([status, headers.has("x-cc-gateway-version")]).toEqual([404, false]);
});

test("models are listed as the client reads them", async () => {
  const { status, body } = await ask("GET", "/v1/models?limit=1000");
  expect(status).toBe(200);
  for (const model of body.data)
    expect(model).toMatchObject({ type: "model", id: expect.any(String), display_name: expect.any(String) });
});

test("safeguards reach a provider of the same format, with their beta and their results", async () => {
  answerWith = [{ ...MESSAGE, safeguard_results: [{ type: "dangerous_tool_use", flagged: false }] }, 200];
  const safeguards = [{ type: "dangerous_tool_use", future: { x: 1 } }];
  const beta = "dangerous-tool-use-2026-09-03,future-beta-2027-01-01";
  const { status, body, headers } = await messages({ safeguards }, { "anthropic-beta": beta });
  answerWith = [MESSAGE, 200];
  expect([status, body.safeguard_results]).toEqual([200, [{ type: "dangerous_tool_use", flagged: false }]]);
  expect(asked.at(-1)!.body.safeguards).toEqual(safeguards);
  expect(asked.at(-1)!.headers.get("anthropic-beta")).toBe(beta);
  expect(headers.has("anthropic-ratelimit-requests-limit")).toBe(false);
});

test("where weir translates, safeguards are refused by their name", async () => {
  const { status, body } = await messages({ model: "host/some-model", safeguards: [{ type: "x" }] });
  expect([status, body.error.type]).toEqual([400, "invalid_request_error"]);
  expect(body.error.message).toContain("safeguards");
  expect((await messages({ model: "host/some-model" })).status).toBe(200);
});

test("unknown members and headers are never refused, and members reach the provider", async () => {
  const more = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`future_${index}`, { index }]));
  const headers = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`x-future-${index}`, "1"]));
  expect((await messages(more, headers)).status).toBe(200);
  expect(asked.at(-1)!.body).toMatchObject(more);
  expect((await messages({ ...more, model: "host/some-model" }, headers)).status).toBe(200);
});

test("the provider gets its own key, and never the token of the person", async () => {
  await messages({}, { "x-claude-code-managed-settings-checksum": "sha256:00" });
  const { headers } = asked.at(-1)!;
  expect([headers.get("x-api-key"), headers.get("authorization")]).toEqual(["sk-ant-planted", null]);
  expect(headers.has("x-claude-code-managed-settings-checksum")).toBe(false);
});

test("a prompt that is too long keeps the words by which the client recovers", async () => {
  for (const message of ["prompt is too long: 210000 tokens > 200000 maximum", "Input is too long."]) {
    answerWith = [{ type: "error", error: { type: "invalid_request_error", message } }, 400];
    const { status, body } = await messages();
    expect([status, body.error.message]).toEqual([400, message]);
  }
  answerWith = [MESSAGE, 200];
});

test("tokens are counted by the provider, else estimated", async () => {
  const count = (model: string) =>
    ask("POST", "/v1/messages/count_tokens", { model, messages: [{ role: "user", content: "hi" }] });
  expect((await count(MODEL)).body).toEqual({ input_tokens: 3 });
  expect((await count("host/some-model")).body.input_tokens).toBeGreaterThan(0);
});

test("a token that is over is refused at once, so that the client asks to sign in", async () => {
  const expired = await tokenOf("anna", {}, () => Date.now() - 3_700_000);
  for (const path of ["/v1/messages", "/v1/models"]) {
    const refused = await fetch(gateway.url + path, {
      method: path === "/v1/models" ? "GET" : "POST",
      headers: { ...bearer(expired), "anthropic-version": "2023-06-01" },
    });
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([401, "false"]);
    if (path !== "/v1/models")
      expect(((await refused.json()) as any).error.type).toBe("authentication_error");
  }
});

test("probes answer with a word, and unknown paths are not found", async () => {
  const word = async (path: string) => {
    const answer = await fetch(gateway.url + path);
    return [answer.status, await answer.text()];
  };
  expect([await word("/healthz"), await word("/readyz")]).toEqual([
    [200, "ok"],
    [200, "ready"],
  ]);
  expect((await fetch(`${gateway.url}/api/hello`, { method: "HEAD" })).status).toBe(200);
  for (const path of ["/nope", "/v1/organizations/spend_limits"])
    expect((await ask("GET", path)).status).toBe(404);
});
