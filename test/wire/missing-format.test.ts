/** Hosts that speak fewer formats than their provider declares. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { resolve } from "node:path";
import { environmentIn } from "../helpers/environment.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient } from "../helpers/sdk.ts";
import {
  html,
  json,
  silence,
  sse,
  startUpstream,
  type Answer,
  type Upstream,
  type UpstreamRequest,
} from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeEach(async () => {
  upstream = startUpstream(chatOnly({ detail: "Not Found" }));
  gateway = await startGateway({
    config: { providers: { llamacpp: { baseUrl: `${upstream.url}/v1` } }, log: { format: "json" } },
  });
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

const COMPLETION = {
  id: "c",
  model: "m",
  choices: [{ index: 0, message: { content: "said in chat" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
};
const CHUNKS = [
  `data: ${JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta: { content: "said in chat" }, finish_reason: "stop" }] })}\n\n`,
  "data: [DONE]\n\n",
];

/** A server of the kind that knows `/v1/chat/completions` and answers any other path as it likes. */
function chatOnly(missing: object | Answer, status = 404) {
  return (request: UpstreamRequest): Answer => {
    if (request.path === "/v1/models") return json({ object: "list", data: [{ id: "m" }] });
    if (request.path !== "/v1/chat/completions")
      return "body" in missing ? (missing as Answer) : json(missing, status);
    return request.body.includes('"stream":true') ? sse(CHUNKS) : json(COMPLETION);
  };
}

const ask = () =>
  anthropicClient(gateway.url).messages.create({
    model: "llamacpp/m",
    max_tokens: 16,
    messages: [{ role: "user", content: "hi" }],
  });
const paths = () => upstream.requests.map(({ path }) => path).filter((path) => path !== "/v1/models");

test("a host without the path of a format is asked in the next one its provider declares, and remembered", async () => {
  const message = await ask();
  expect(message.content).toMatchObject([{ type: "text", text: "said in chat" }]);
  expect(paths()).toEqual(["/v1/messages", "/v1/chat/completions"]);
  const stream = anthropicClient(gateway.url).messages.stream({
    model: "llamacpp/m",
    max_tokens: 16,
    messages: [{ role: "user", content: "hi" }],
  });
  expect((await stream.finalMessage()).content).toMatchObject([{ text: "said in chat" }]);
  expect(paths().slice(2)).toEqual(["/v1/chat/completions"]);
  const explained = await fetch(`${gateway.url}/v1/explain?format=messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "llamacpp/m", max_tokens: 1, messages: [{ role: "user", content: "hi" }] }),
  });
  expect(JSON.stringify(await explained.json())).toContain("its host has no messages endpoint");
}, 600_000);

test("a path may be missing in many words", async () => {
  const said: (object | Answer)[] = [
    { error: { code: 404, message: "File Not Found", type: "not_found_error" } },
    { error: "Unexpected endpoint or method. (POST /v1/messages)" },
    html(404),
    { status: 404, headers: { "content-type": "text/plain" }, body: "404 page not found" },
    { status: 405, headers: { "content-type": "application/json" }, body: '{"detail":"Method Not Allowed"}' },
  ];
  for (const missing of said) {
    const fresh = startUpstream(chatOnly(missing));
    const other = await startGateway({ config: { providers: { vllm: { baseUrl: `${fresh.url}/v1` } } } });
    const message = await anthropicClient(other.url).messages.create({
      model: "vllm/m",
      max_tokens: 16,
      messages: [{ role: "user", content: "hi" }],
    });
    expect(message.content).toMatchObject([{ text: "said in chat" }]);
    await other.stop();
    fresh.stop();
  }
}, 600_000);

test("a 404 about the model reaches the client as it is", async () => {
  const said = [
    { type: "error", error: { type: "not_found_error", message: "The model `m` does not exist." } },
    { error: { message: "m: not found, try pulling it first" } },
  ];
  for (const body of said) {
    upstream.answer((request) => (request.path === "/v1/messages" ? json(body, 404) : json(COMPLETION)));
    const before = paths().length;
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 404 });
    expect(paths().length).toBe(before + 1);
  }
}, 600_000);

test("where no path is found at all, the error says so and nothing is remembered", async () => {
  upstream.answer(() => json({ detail: "Not Found" }, 404));
  expect(await ask().catch((thrown: unknown) => thrown)).toMatchObject({ status: 404 });
  expect(paths()).toEqual(["/v1/messages", "/v1/chat/completions"]);
  upstream.answer((request) =>
    request.path === "/v1/messages"
      ? json({
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [{ type: "text", text: "native" }],
          stop_reason: "end_turn",
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        })
      : json({}, 500),
  );
  expect((await ask()).content).toMatchObject([{ text: "native" }]);
}, 600_000);

async function run(...words: string[]): Promise<string> {
  const main = resolve(import.meta.dir, "../../src/main.ts");
  const child = Bun.spawn([process.execPath, main, ...words], {
    cwd: gateway.folder,
    env: environmentIn(gateway.folder, { NO_COLOR: "1" }),
    stdout: "pipe",
    stderr: "pipe",
  });
  const text = await new Response(child.stdout).text();
  await child.exited;
  return text;
}

test("weir check does not make a host generate that puts a default in the place of missing messages", async () => {
  upstream.answer((request) => {
    if (request.path !== "/v1/chat/completions") return json({ detail: "Not Found" }, 404);
    const { messages = [] } = JSON.parse(request.body.toString()) as { messages?: unknown };
    const isList = Array.isArray(messages) && messages.every((message) => typeof message === "object");
    return isList ? silence() : json({ error: { message: "messages: not a list of messages" } }, 400);
  });
  expect(await run("check")).toMatch(/llamacpp +reachable, no messages/);
}, 600_000);

test("weir check and weir models say which format a host does not speak", async () => {
  expect(await run("check")).toMatch(/llamacpp +reachable, no messages/);
  expect(await run("models", "llamacpp/m")).toContain("its host has no messages endpoint");
}, 600_000);
