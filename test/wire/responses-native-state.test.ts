/** Stored answers of providers that speak the client's format: those that store them, and those that do not. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI, { APIError } from "openai";
import { type RunningGateway, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { openaiClient } from "../helpers/sdk.ts";
import {
  json,
  sse,
  startUpstream,
  type Answer,
  type Upstream,
  type UpstreamRequest,
} from "../helpers/upstream.ts";

const KEYS = { a: "key-of-client-a-1234567890", b: "key-of-client-b-1234567890" };

let upstream: Upstream;
let gateway: RunningGateway;
let keyed: RunningGateway;
let openai: OpenAI;

/** `vendor` stores answers and has two deployments, `local` stores none, `talk` speaks another format. */
const plugin = (url: string) => `
import { definePlugin } from "weir";
const provider = (name, speaks, traits) => ({ name, models: [name + "/*"], baseUrl: "${url}/" + name, apiKey: "KEY", speaks, traits });
export default definePlugin({ name: "hosts", providers: [
  provider("vendor", { responses: "/responses", "chat-completions": "/chat/completions" }, { storesAnswers: true, compacts: true }),
  provider("local", { responses: "/responses" }, {}),
  provider("talk", { "chat-completions": "/chat/completions" }, {}),
] });`;

beforeAll(async () => {
  upstream = startUpstream(answerOf);
  const config = {
    providers: {
      vendor: { deployments: ["one", "two"].map((name) => ({ name, apiKey: `key-of-${name}-123456` })) },
    },
    routes: { mixed: ["local/m", { model: "talk/m", priority: 1 }], other: ["talk/m"] },
    log: { format: "json" },
  };
  const options = {
    plugins: { "hosts.ts": plugin(upstream.url) },
    env: { KEY: "key-of-the-hosts-123456", WEIR_STATE: "none" },
  };
  gateway = await startGateway({ ...options, config });
  const keys = Object.entries(KEYS).map(([name, key]) => ({ name, key }));
  keyed = await startGateway({ ...options, config: { ...config, keys } });
  openai = openaiClient(gateway.url);
});

beforeEach(() => upstream.answer(answerOf));

afterAll(async () => {
  await gateway.stop();
  await keyed.stop();
  upstream.stop();
});

/** An answer whose origin weir has stored. On a busy machine the store can be late; the answer then says that it is not stored. */
async function storedAnswer(url: string): Promise<{ id: string }> {
  for (let tries = 0; tries < 20; tries++) {
    const response = await post(url, { model: "vendor/m", input: "hi" }, KEYS.a);
    const { id, store } = (await response.json()) as { id: string; store: boolean };
    if (store) return { id };
  }
  throw new Error("no answer was stored");
}

let count = 0;

interface Body {
  model: string;
  input: string | Record<string, unknown>[];
  store?: boolean;
  stream?: boolean;
  background?: boolean;
  previous_response_id?: string;
  messages?: { content: string }[];
}

const bodyOf = (request: UpstreamRequest) => JSON.parse(request.body.toString()) as Body;
const last = () => upstream.requests.at(-1)!;

function responseOf({ store = true }: Body, number: number, status = "completed") {
  const item = {
    ...{ id: `msg_${number}`, type: "message", role: "assistant", status: "completed" },
    content: [{ type: "output_text", text: `answer ${number}`, annotations: [] }],
  };
  return {
    ...{ id: `resp_${number}`, object: "response", created_at: 1, status, model: "m", store, error: null },
    output: status === "completed" ? [item] : [],
    usage:
      status === "completed"
        ? {
            input_tokens: 3,
            input_tokens_details: {},
            output_tokens: 2,
            output_tokens_details: {},
            total_tokens: 5,
          }
        : null,
  };
}

function answerOf(request: UpstreamRequest): Answer {
  const number = ++count;
  if (request.path.endsWith("/chat/completions"))
    return json({
      ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
      choices: [
        { index: 0, message: { role: "assistant", content: `answer ${number}` }, finish_reason: "stop" },
      ],
    });
  if (request.method !== "POST") return json({ relayed: `${request.method} ${request.path}` });
  if (request.path.endsWith("/cancel")) return json({ relayed: `POST ${request.path}` });
  const body = bodyOf(request);
  if (body.stream) return sse(eventsOf(body, number));
  return json(responseOf(body, number, body.background ? "queued" : "completed"));
}

function eventsOf(body: Body, number: number): string[] {
  const whole = responseOf(body, number);
  const [item] = whole.output;
  const begun = { ...whole, status: "in_progress", output: [], usage: null };
  return [
    { type: "response.created", response: begun },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    {
      ...{ type: "response.content_part.added", item_id: item!.id, output_index: 0, content_index: 0 },
      part: { type: "output_text", text: "", annotations: [] },
    },
    {
      ...{ type: "response.output_text.delta", item_id: item!.id, output_index: 0, content_index: 0 },
      delta: `answer ${number}`,
    },
    { type: "response.output_item.done", output_index: 0, item },
    // Some hosts leave the items out of the last event.
    { type: "response.completed", response: { ...whole, output: [] } },
  ].map(
    (event, index) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
  );
}

interface LogLine {
  id?: string;
  tokens: { input: number };
}

/** The log lines of these calls. weir writes its log some time after the answer. */
async function linesOf(ids: readonly string[]): Promise<LogLine[]> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const lines = gateway.log
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as LogLine)
      .filter(({ id }) => ids.includes(id ?? ""));
    if (lines.length === ids.length || Date.now() > deadline) return lines;
    await Bun.sleep(20);
  }
}

const post = (url: string, body: object, key = "x") =>
  fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });

describe("a provider that stores its answers", () => {
  test("gets the client's bytes, and its answer passes unchanged", async () => {
    const first = await post(gateway.url, { model: "vendor/m", input: "one" });
    const bytes = await first.text();
    expect(bytes).toBe(JSON.stringify(responseOf({} as Body, count)));
    const { id } = JSON.parse(bytes) as { id: string };
    const body = { model: "m", previous_response_id: id, input: "two", store: true };
    await post(gateway.url, { ...body, model: "vendor/m" });
    expect(last().body.toString()).toBe(JSON.stringify(body));
  });

  test("continues at the deployment that made the answer, also after a stream, and never elsewhere", async () => {
    for (const stream of [false, true]) {
      const first = await post(gateway.url, { model: "vendor/m", input: `hello ${stream}`, stream });
      const id = /resp_\d+/.exec(await first.text())![0];
      const place = last().headers.get("authorization");
      for (let turn = 0; turn < 20; turn++) {
        const body = { model: "vendor/m", input: `turn ${turn}`, previous_response_id: id };
        expect((await post(gateway.url, body)).status).toBe(200);
        expect(last().headers.get("authorization")).toBe(place);
      }
      upstream.answer(() =>
        json({ error: { message: "down", type: "server_error", code: null, param: null } }, 500),
      );
      const before = upstream.requests.length;
      const failed = await post(gateway.url, { model: "vendor/m", input: "x", previous_response_id: id });
      expect(failed.status).toBe(500);
      const places = upstream.requests.slice(before).map(({ headers }) => headers.get("authorization"));
      expect([...new Set(places)]).toEqual([place]);
      upstream.answer(answerOf);
    }
  });

  test("has its answers retrieved, listed, cancelled and deleted where they are", async () => {
    const { id } = (await (await post(gateway.url, { model: "vendor/m", input: "hi" })).json()) as {
      id: string;
    };
    const place = last().headers.get("authorization");
    for (const [method, path] of [
      ["GET", `${id}?include%5B%5D=a%2Fb`],
      ["GET", `${id}/input_items?limit=3`],
      ["POST", `${id}/cancel`],
      ["DELETE", id],
    ] as const) {
      const answer = await fetch(`${gateway.url}/v1/responses/${path}`, { method });
      expect(await answer.json()).toEqual({ relayed: `${method} /vendor/responses/${path}` });
      expect(last().headers.get("authorization")).toBe(place);
    }
  });

  test("cannot be asked in another format for an answer that it has", async () => {
    const { id } = (await (await post(gateway.url, { model: "vendor/m", input: "hi" })).json()) as {
      id: string;
    };
    const refused = await post(gateway.url, { model: "other", input: "x", previous_response_id: id });
    const { error } = (await refused.json()) as { error: { message: string; code: string } };
    expect([refused.status, error.code]).toEqual([400, "previous_response_not_found"]);
    expect(error.message).toContain("vendor/");
  });

  test("shows its answers only to the key that made them", async () => {
    const made = await post(keyed.url, { model: "vendor/m", input: "secret" }, KEYS.a);
    const { id } = (await made.json()) as { id: string };
    const before = upstream.requests.length;
    const authorization = `Bearer ${KEYS.b}`;
    for (const path of [id, `${id}/input_items`])
      expect((await fetch(`${keyed.url}/v1/responses/${path}`, { headers: { authorization } })).status).toBe(
        404,
      );
    const continued = await post(
      keyed.url,
      { model: "vendor/m", input: "x", previous_response_id: id },
      KEYS.b,
    );
    expect([continued.status, ((await continued.json()) as { error: { code: string } }).error.code]).toEqual([
      400,
      "previous_response_not_found",
    ]);
    expect(upstream.requests.length).toBe(before);
    expect(
      (await post(keyed.url, { model: "vendor/m", input: "x", previous_response_id: id }, KEYS.a)).status,
    ).toBe(200);
  });

  test("gets no conversation from clients with gateway keys, which share its account", async () => {
    const bodies = [
      { conversation: "conv_68a1" },
      { conversation: { id: "conv_68a1" } },
      { conversation: "conv_68a1", stream: true, store: false },
    ].map((more) => JSON.stringify({ model: "vendor/m", input: "x", ...more }));
    const before = upstream.requests.length;
    for (const body of [...bodies, bodies[0]!.replace("conversation", "\\u0063onversation")])
      for (const path of ["", "/compact"]) {
        const refused = await fetch(`${keyed.url}/v1/responses${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${KEYS.a}` },
          body,
        });
        const { error } = (await refused.json()) as { error: Record<string, string> };
        expect([path, refused.status, error["param"], error["code"]]).toEqual([
          path,
          404,
          "conversation",
          "conversation_not_found",
        ]);
        expect(error["message"]).toContain("previous_response_id");
      }
    expect(upstream.requests.length).toBe(before);
    const none = await post(keyed.url, { model: "vendor/m", input: "x", conversation: null }, KEYS.a);
    expect(none.status).toBe(200);
    const passed = await post(gateway.url, { model: "vendor/m", input: "x", conversation: "conv_68a1" });
    expect([passed.status, JSON.parse(last().body.toString())]).toEqual([
      200,
      expect.objectContaining({ conversation: "conv_68a1" }),
    ]);
  });

  test("is not asked by a key that may not use it any more", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weir-state-"));
    const start = (scopes: object) =>
      startGateway({
        config: { state: folder, keys: [{ name: "a", key: KEYS.a, ...scopes }] },
        plugins: { "hosts.ts": plugin(upstream.url) },
        env: { KEY: "key-of-the-hosts-123456" },
      });
    const before = await start({});
    const { id } = await storedAnswer(before.url);
    await before.stop();
    const asked = upstream.requests.length;
    const after = await start({ providers: ["local"] });
    for (const [method, path] of [
      ["GET", id],
      ["GET", `${id}/input_items`],
      ["POST", `${id}/cancel`],
      ["DELETE", id],
    ] as const) {
      const headers = { authorization: `Bearer ${KEYS.a}` };
      const answer = await fetch(`${after.url}/v1/responses/${path}`, { method, headers });
      const { error } = (await answer.json()) as { error: { message: string; code: string } };
      expect([answer.status, error.code]).toEqual([403, "provider_not_allowed"]);
      expect(error.message).toContain("The key a may not use the provider vendor.");
    }
    expect(upstream.requests.length).toBe(asked);
    await after.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("with store: false leaves no trace", async () => {
    const made = await post(keyed.url, { model: "vendor/m", input: "secret", store: false }, KEYS.a);
    const { id, store } = (await made.json()) as { id: string; store: boolean };
    expect(store).toBe(false);
    const authorization = `Bearer ${KEYS.a}`;
    expect((await fetch(`${keyed.url}/v1/responses/${id}`, { headers: { authorization } })).status).toBe(404);
  });

  test("is not asked in another format where the path of an answer or of a compaction is missing", async () => {
    const { id } = (await (await post(gateway.url, { model: "vendor/m", input: "hi" })).json()) as {
      id: string;
    };
    upstream.answer(() => json({ detail: "Not Found" }, 404));
    const before = upstream.requests.length;
    const continued = await post(gateway.url, { model: "vendor/m", input: "x", previous_response_id: id });
    expect(continued.status).toBe(404);
    const compacted = await openai.responses
      .compact({ model: "vendor/m", input: "x" })
      .catch((error: unknown) => error);
    expect((compacted as APIError).status).toBe(404);
    expect(upstream.requests.slice(before).map(({ path }) => path)).toEqual([
      "/vendor/responses",
      "/vendor/responses/compact",
    ]);
  });

  test("has the tokens of an answer in the background counted once, when a retrieval first shows them", async () => {
    const made = await post(gateway.url, { model: "vendor/m", input: "hi", background: true });
    const { id } = (await made.json()) as { id: string };
    upstream.answer(() => json(responseOf({} as Body, 1)));
    const polls: string[] = [];
    for (let poll = 0; poll < 3; poll++) {
      const answer = await fetch(`${gateway.url}/v1/responses/${id}`);
      polls.push(answer.headers.get("x-request-id")!);
      await answer.text();
    }
    const counted = (await linesOf(polls)).filter(({ tokens }) => tokens.input === 3);
    expect(counted.length).toBe(1);
  });
});

describe("a provider of the client's format that stores no answers", () => {
  test("gets the stored items and store: false, and weir stores its answer", async () => {
    for (const stream of [false, true]) {
      const first = await post(gateway.url, { model: "local/m", input: "one", stream });
      const text = await first.text();
      expect(text).toContain('"store":true');
      expect(text).not.toContain('"store":false');
      const id = /resp_\d+/.exec(text)![0];
      const number = count;
      expect(bodyOf(last()).store).toBe(false);
      await post(gateway.url, { model: "local/m", input: "two", previous_response_id: id, temperature: 0.5 });
      const sent = bodyOf(last());
      expect(sent.previous_response_id).toBeUndefined();
      expect(JSON.stringify(sent.input)).toBe(
        JSON.stringify([
          { type: "message", role: "user", content: "one" },
          responseOf({} as Body, number).output[0],
          { type: "message", role: "user", content: "two" },
        ]),
      );
      const stored = (await (await fetch(`${gateway.url}/v1/responses/${id}`)).json()) as {
        output: object[];
      };
      expect(stored.output.length).toBe(1);
    }
  });

  test("gets the client's bytes if the client wants nothing stored", async () => {
    const body = { model: "m", input: [{ role: "user", content: "hi" }], store: false };
    const answer = await post(gateway.url, { ...body, model: "local/m" });
    expect(bodyOf(last())).toEqual(body as unknown as Body);
    expect(((await answer.json()) as { store: boolean }).store).toBe(false);
  });

  test("and fails, has its conversation continued by a fallback in another format, from the stored items", async () => {
    const first = await openai.responses.create({ model: "mixed", input: "one" });
    upstream.answer((request) =>
      request.path.startsWith("/local") ? json({ error: { message: "down" } }, 503) : answerOf(request),
    );
    const second = await openai.responses.create({
      model: "mixed",
      input: "two",
      previous_response_id: first.id,
    });
    expect(second.output_text).toStartWith("answer");
    expect(bodyOf(last()).messages!.map(({ content }) => content)).toEqual(["one", first.output_text, "two"]);
  });

  test("and refuses reasoning that weir stored, is asked once more without it", async () => {
    const reasoning = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "sealed" };
    upstream.answer((request) => {
      const whole = responseOf(bodyOf(request), ++count);
      return json({ ...whole, output: [reasoning, ...whole.output] });
    });
    const first = await post(gateway.url, { model: "local/m", input: "one" });
    const { id } = (await first.json()) as { id: string };
    const error = {
      message: "cannot be decrypted",
      code: "invalid_encrypted_content",
      type: "invalid_request_error",
    };
    upstream.answer((request) =>
      request.body.includes("sealed") ? json({ error: { ...error, param: null } }, 400) : answerOf(request),
    );
    const second = await post(gateway.url, { model: "local/m", input: "two", previous_response_id: id });
    expect([second.status, second.headers.get("x-weir-warnings")]).toEqual([200, "dropped:reasoning"]);
    expect((bodyOf(last()).input as object[]).length).toBe(3);
  });

  test("and gives two answers the same id, keeps the first under it", async () => {
    const same = (text: string) => {
      const whole = responseOf({ store: false } as Body, 1);
      const [item] = whole.output;
      return { ...whole, id: "resp_same", output: [{ ...item, content: [{ ...item!.content[0], text }] }] };
    };
    const stores: boolean[] = [];
    for (const text of ["first", "second"]) {
      upstream.answer(() => json(same(text)));
      const answer = await post(gateway.url, { model: "local/m", input: text });
      stores.push(((await answer.json()) as { store: boolean }).store);
    }
    expect(stores).toEqual([true, false]);
    const kept = await (await fetch(`${gateway.url}/v1/responses/resp_same`)).text();
    expect(kept).toContain("first");
  });

  test("whose stream breaks stores nothing", async () => {
    upstream.answer((request) => sse(eventsOf(bodyOf(request), ++count).slice(0, 4)));
    const broken = await post(gateway.url, { model: "local/m", input: "one", stream: true });
    const text = await broken.text().catch((error: unknown) => String(error));
    const id = /resp_\d+/.exec(text)?.[0] ?? `resp_${count}`;
    upstream.answer(() => json({ error: { message: "unknown" } }, 404));
    expect((await fetch(`${gateway.url}/v1/responses/${id}`)).status).toBe(404);
  });
});

test("a conversation that began elsewhere continues at a provider that stores, with the items and without weir's id", async () => {
  const first = await openai.responses.create({ model: "other", input: "one" });
  const second = await openai.responses.create({
    model: "vendor/m",
    input: "two",
    previous_response_id: first.id,
  });
  const sent = bodyOf(last());
  expect(sent.previous_response_id).toBeUndefined();
  expect(sent.store).toBeUndefined();
  expect((sent.input as object[]).length).toBe(3);
  expect(JSON.stringify(sent)).not.toContain("_w1");
  expect(second.id).toStartWith("resp_");
  await openai.responses.create({ model: "vendor/m", input: "three", previous_response_id: second.id });
  expect(bodyOf(last()).previous_response_id).toBe(second.id);
});

test("an unknown id passes to the provider while the gateway has no keys, and is refused once it has", async () => {
  const body = { model: "vendor/m", input: "x", previous_response_id: "resp_of_before" };
  expect((await post(gateway.url, body)).status).toBe(200);
  expect(bodyOf(last()).previous_response_id).toBe("resp_of_before");
  expect((await post(keyed.url, body, KEYS.a)).status).toBe(400);
  const refused = await openai.responses.create({ ...body, model: "other" }).catch((error: unknown) => error);
  expect([(refused as APIError).status, (refused as APIError).code]).toEqual([
    400,
    "previous_response_not_found",
  ]);
});

test("members that belong to a WebSocket do not reach OpenAI, and the answer says so", async () => {
  const vendor = await startGateway({ config: upstreamConfig({ openai: upstream.url }), env: UPSTREAM_KEYS });
  try {
    const body = { model: "openai/m", input: "hi", generate: true, type: "response.create", stream_id: "s" };
    const answer = await post(vendor.url, body);
    expect(bodyOf(last())).toEqual({ model: "m", input: "hi" } as Body);
    expect(answer.headers.get("x-weir-warnings")).toBe("dropped:generate, dropped:stream_id, dropped:type");
  } finally {
    await vendor.stop();
  }
});
