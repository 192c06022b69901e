/** Responses over a WebSocket, by OpenAI's SDK and by frames. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import type { ResponsesClientEvent, ResponsesServerEvent } from "openai/resources/responses/responses";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";

setDefaultTimeout(60_000);

const KEY = "weir_sk_responsesockets0123456789abcdefghijklmnop";
const OTHER = "weir_sk_chatonly0123456789abcdefghijklmnopqrstuvw";

/** Bodies that the vendor got. */
const asked: Record<string, unknown>[] = [];
/** Requests that the vendor's client left. */
let left = 0;
let vendor: ReturnType<typeof Bun.serve>;
let gateway: RunningGateway;

beforeAll(async () => {
  vendor = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: answer });
  gateway = await startGateway({
    config: {
      keys: [
        { name: "codex", key: KEY },
        { name: "chat", key: OTHER, endpoints: ["chat-completions"] },
      ],
      providers: {
        openai: { baseUrl: `${vendor.url.origin}/v1`, apiKey: "upstream-key" },
        host: { baseUrl: vendor.url.origin, speaks: "chat-completions", models: ["chatty"] },
      },
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop(true);
});

/** Answers with how many items it got. The word `silent` makes it wait for ever, `cut` leaves the end out. */
async function answer(request: Request): Promise<Response> {
  const text = await request.text();
  if (request.url.endsWith("/chat/completions")) return new Response(CHAT, STREAM);
  const body = JSON.parse(text) as { input: unknown; model: string };
  asked.push({ ...body, text });
  if (text.includes("silent")) {
    request.signal.addEventListener("abort", () => left++);
    return new Response(new ReadableStream({ pull: () => new Promise(() => {}) }), STREAM);
  }
  const id = `resp_${asked.length}`;
  const said = `${Array.isArray(body.input) ? body.input.length : 1} items`;
  const message = {
    ...{ type: "message", id: `msg_${asked.length}`, role: "assistant", status: "completed" },
    content: [{ type: "output_text", text: said, annotations: [] }],
  };
  const response = {
    id,
    object: "response",
    created_at: 1,
    model: body.model,
    output: [message],
    status: "completed",
  };
  const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
  const events = [
    { type: "response.created", response: { ...response, output: [], status: "in_progress" } },
    {
      type: "response.output_text.delta",
      item_id: message.id,
      output_index: 0,
      content_index: 0,
      delta: said,
    },
    ...(text.includes("cut") ? [] : [{ type: "response.completed", response: { ...response, usage } }]),
  ];
  const lines = events.map(
    (event, at) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`,
  );
  return new Response(lines.join(""), STREAM);
}

const CHAT = [
  {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { content: "chatted" }, finish_reason: null }],
  },
  {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
  },
]
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  .concat("data: [DONE]\n\n")
  .join("");

const STREAM = { headers: { "content-type": "text/event-stream" } };

interface Talk {
  socket: WebSocket;
  send(event: object): void;
  /** Frames until the last one of a response. */
  response(): Promise<Record<string, any>[]>;
  closed: Promise<number>;
}

async function connect(key = KEY): Promise<Talk> {
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/responses`, {
    headers: { authorization: `Bearer ${key}`, "openai-beta": "responses_websockets=2026-02-06" },
  } as never);
  const frames: Record<string, any>[] = [];
  let wake = () => {};
  socket.onmessage = ({ data }) => {
    frames.push(JSON.parse(String(data)));
    wake();
  };
  const closed = new Promise<number>((resolve) => {
    socket.onclose = ({ code }) => resolve(code);
  });
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("The connection was refused."));
  });
  return {
    socket,
    closed,
    send: (event) => socket.send(JSON.stringify(event)),
    async response() {
      for (;;) {
        const end = frames.findIndex(({ type }) => /completed$|incomplete$|failed$|^error$/.test(type));
        if (end >= 0) return frames.splice(0, end + 1);
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

const textIn = (frames: Record<string, any>[]) =>
  frames.flatMap(({ type, delta }) => (type === "response.output_text.delta" ? [delta] : [])).join("");

test("OpenAI's SDK gets the events of a response, and the request that HTTP would have had", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY });
  const socket = new ResponsesWS(client);
  const events: ResponsesServerEvent[] = [];
  const over = Promise.withResolvers<void>();
  socket.on("event", (event) => {
    events.push(event);
    if (event.type === "response.completed") over.resolve();
  });
  socket.on("error", (error) => over.reject(error));
  const event: ResponsesClientEvent = {
    type: "response.create",
    model: "gpt-5.4",
    input: "hello",
    store: false,
  };
  socket.send(event);
  await over.promise;
  socket.close();
  expect(events.map(({ type }) => type)).toEqual([
    "response.created",
    "response.output_text.delta",
    "response.completed",
  ]);
  const { text } = asked.at(-1)!;
  expect(text).toBe('{"stream":true,"model":"gpt-5.4","input":"hello","store":false}');
});

test("a response that is not stored is continued on its connection, and on no other one", async () => {
  const talk = await connect();
  talk.send({
    type: "response.create",
    model: "gpt-5.4",
    input: [{ role: "user", content: "a" }],
    store: false,
  });
  const first = await talk.response();
  const { id } = first.at(-1)!["response"];
  const next = {
    type: "response.create",
    model: "gpt-5.4",
    previous_response_id: id,
    input: [{ role: "user", content: "b" }],
    store: false,
  };
  talk.send(next);
  expect(textIn(await talk.response())).toBe("3 items");
  const { input, previous_response_id } = asked.at(-1)! as { input: any[]; previous_response_id?: string };
  expect(previous_response_id).toBeUndefined();
  expect(input.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  const other = await connect();
  other.send(next);
  const [refused] = await other.response();
  expect(refused).toMatchObject({ type: "error", error: { code: "previous_response_not_found" } });
  talk.socket.close();
  other.socket.close();
});

test("a warm-up asks no provider, and what it sent is continued", async () => {
  const talk = await connect();
  const before = asked.length;
  talk.send({
    type: "response.create",
    model: "gpt-5.4",
    generate: false,
    input: [{ role: "user", content: "a" }],
    store: false,
  });
  const warm = await talk.response();
  expect(warm.map(({ type }) => type)).toEqual(["response.created", "response.completed"]);
  expect(warm[1]!["response"].usage.total_tokens).toBe(0);
  expect(asked.length).toBe(before);
  const { id } = warm[1]!["response"];
  talk.send({
    type: "response.create",
    model: "gpt-5.4",
    previous_response_id: id,
    input: [{ role: "user", content: "b" }],
    store: false,
  });
  expect(textIn(await talk.response())).toBe("2 items");
  talk.socket.close();
});

test("requests wait for each other, and those of other streams do not", async () => {
  const talk = await connect();
  talk.send({ type: "response.create", model: "gpt-5.4", stream_id: "slow", input: "silent", store: false });
  talk.send({ type: "response.create", model: "gpt-5.4", stream_id: "slow", input: "waits", store: false });
  talk.send({ type: "response.create", model: "gpt-5.4", stream_id: "fast", input: "hello", store: false });
  const frames = await talk.response();
  expect(frames.map(({ stream_id }) => stream_id)).toEqual(["fast", "fast", "fast"]);
  const gone = left;
  const sent = asked.length;
  talk.socket.close();
  for (let waited = 0; left === gone && waited < 200; waited++) await Bun.sleep(25);
  expect(left).toBe(gone + 1);
  expect(asked.length).toBe(sent);
});

test("faults are frames, and the connection goes on", async () => {
  const talk = await connect();
  talk.socket.send("no json");
  expect((await talk.response())[0]).toMatchObject({
    type: "error",
    status: 400,
    error: { type: "invalid_request_error" },
  });
  talk.send({ type: "response.steer", stream_id: "s" });
  expect((await talk.response())[0]).toMatchObject({
    type: "error",
    status: 400,
    stream_id: "s",
    error: { param: "type" },
  });
  talk.send({ type: "response.create", model: "gpt-5.4", input: "x", background: true });
  expect((await talk.response())[0]).toMatchObject({ status: 400, error: { param: "background" } });
  talk.send({ type: "response.create", model: "no-such-model", input: "x" });
  expect((await talk.response())[0]).toMatchObject({
    type: "error",
    status: 404,
    error: { code: "model_not_found" },
  });
  talk.send({ type: "response.create", model: "gpt-5.4", input: "cut", store: false });
  const cut = await talk.response();
  expect(cut.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
  talk.send({ type: "response.create", model: "gpt-5.4", input: "hello", store: false });
  expect(textIn(await talk.response())).toBe("1 items");
  talk.socket.close();
});

test("who may not ask gets a status, and a GET without an upgrade 405", async () => {
  const upgrade = {
    ...{ connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${gateway.url}/v1/responses`, { headers })).status;
  expect(await status(upgrade)).toBe(401);
  expect(await status({ ...upgrade, authorization: `Bearer ${OTHER}` })).toBe(403);
  expect(await status({ authorization: `Bearer ${KEY}` })).toBe(405);
});

test("another provider's model answers, and what got lost is told", async () => {
  const talk = await connect();
  talk.send({
    ...{ type: "response.create", model: "host/chatty", input: "hello", store: false },
    tools: [
      {
        type: "namespace",
        name: "n",
        description: "said of all",
        tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }],
      },
    ],
  });
  const frames = await talk.response();
  expect(textIn(frames)).toBe("chatted");
  expect(frames[0]).toMatchObject({
    type: "weir.warnings",
    warnings: expect.stringContaining("description"),
  });
  talk.socket.close();
});
