/**
 * Captured requests of real clients, served by an upstream of the other format and by one of their own: everything they
 * say arrives, everything the upstream says is what the vendor's SDK reads, an overload is never an ending.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { JsonObject } from "../../src/core/json.ts";
import { isAskedFor, nativeText, withKnownLimit } from "../conformance/policy.ts";
import { haveCaptures, NO_CAPTURES } from "../helpers/captures.ts";
import { type RunningGateway, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { see, seeError } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { chatAnswer, messagesAnswer, type Scenario, scenarios, SIGNATURE, USAGE } from "./answers.ts";
import { post, replays, seeCompletion, seeMessage, type Replay } from "./replay.ts";
import { BILLING, missing, type Said, saidInChat, saidInMessages } from "./said.ts";
import { streamedText } from "../helpers/streamed.ts";

if (!haveCaptures) console.log(NO_CAPTURES);

const MESSAGES_CLIENTS = replays("/v1/messages", /^(claude|copilot|opencode|pi)/);
const CHAT_CLIENTS = replays("/chat/completions", /^(codexold|copilot|opencode|pi|qwen)/);

let chatUpstream: Upstream;
let messagesUpstream: Upstream;
/** Sends every model name of a capture to a chat-completions upstream, or to a messages upstream. */
let onChat: RunningGateway;
let onMessages: RunningGateway;

beforeAll(async () => {
  chatUpstream = startUpstream(json({}));
  messagesUpstream = startUpstream(json({}));
  const names = [...MESSAGES_CLIENTS, ...CHAT_CLIENTS].map((replay) => String(replay.body.model));
  const aliases = (to: string, own: RegExp) =>
    Object.fromEntries(names.filter((name) => !own.test(name)).map((name) => [name, to]));
  onChat = await startGateway({
    config: {
      ...upstreamConfig({ openai: chatUpstream.url }),
      aliases: aliases("openai/gpt-4.1", /^gpt-/),
    },
  });
  onMessages = await startGateway({
    config: {
      ...upstreamConfig({ anthropic: messagesUpstream.url }),
      aliases: aliases("anthropic/claude-opus-4-6", /^claude-/),
    },
  });
});

afterAll(async () => {
  await Promise.all([onChat.stop(), onMessages.stop()]);
  chatUpstream.stop();
  messagesUpstream.stop();
});

const received = (upstream: Upstream) =>
  JSON.parse(upstream.requests.at(-1)!.body.toString("utf8")) as JsonObject;

/** Members only the Messages format has, anywhere but in the words of a message or a schema (check 86). */
const ANTHROPIC_ONLY =
  /"(cache_control|defer_loading|eager_input_streaming|allowed_callers|betas|context_management|input_schema|tool_use_id|output_config|anthropic_version)":/;

function expectSame(sent: Said, arrived: Said): void {
  expect(missing(sent.system, arrived.system)).toEqual([]);
  expect(missing(sent.user, arrived.user)).toEqual([]);
  expect(missing(sent.assistant, arrived.assistant)).toEqual([]);
  expect(arrived.calls).toEqual(sent.calls);
  expect(arrived.results.map(({ id }) => id)).toEqual(sent.results.map(({ id }) => id));
  sent.results.forEach(({ text }, index) => expect(missing(text, arrived.results[index]!.text)).toEqual([]));
  expect(arrived.images).toEqual(sent.images);
  expect(arrived.documents).toEqual(sent.documents);
  expect(arrived.tools).toEqual(sent.tools);
}

describe.skipIf(!haveCaptures)("clients of /v1/messages at a chat-completions upstream", () => {
  test("there are captures of each", () => {
    expect(MESSAGES_CLIENTS.filter(({ name }) => name.startsWith("claude")).length).toBeGreaterThan(30);
    expect(CHAT_CLIENTS.length).toBeGreaterThan(12);
  });

  for (const replay of MESSAGES_CLIENTS) {
    test(`${replay.name}: all it says arrives, and nothing only Anthropic knows`, async () => {
      chatUpstream.answer(() => chatAnswer(scenarios([])[0]!));
      const response = await post(onChat.url, replay);
      expect(response.status).toBe(200);
      await streamedText(response);
      const body = received(chatUpstream);
      expectSame(saidInMessages(replay.body), saidInChat(body));
      const text = JSON.stringify(body);
      expect(text).not.toContain(BILLING);
      expect(text).not.toMatch(ANTHROPIC_ONLY);
      expect(body.model).toBe("gpt-4.1");
      expect(body.stream_options).toEqual({ include_usage: true });
      if (replay.body.metadata) expect(body.safety_identifier).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    });

    for (const scenario of scenarios(replay.tools))
      test(`${replay.name} is answered with ${scenario.name}`, async () => {
        chatUpstream.answer(() => chatAnswer(scenario));
        if (scenario.overloaded) return expectOverloadedMessage(replay);
        expectMessage(await seeMessage(onChat.url, replay), scenario, replay);
      });
  }
});

/** One error of the client's dialect; streamed: behind the text, as an event, and without an ending. */
async function expectOverloadedMessage(replay: Replay): Promise<void> {
  const error = await seeError(() => seeMessage(onChat.url, replay));
  expect(error.type).toBe("overloaded_error");
  const response = await post(onChat.url, replay);
  const text = await streamedText(response);
  if (replay.body.stream !== true) {
    expect(response.status).toBe(529);
    return;
  }
  expect(text).toContain('"Hell"');
  expect(text.trimEnd().split("\n\n").at(-1)).toStartWith("event: error\n");
  expect(text).not.toMatch(/message_delta|message_stop/);
}

function expectMessage(
  message: Anthropic.Message,
  { text, reasoning, calls }: Scenario,
  replay: Replay,
): void {
  const hidden = (replay.body.thinking as JsonObject | undefined)?.display === "omitted";
  const said = message.content.map((block) =>
    block.type === "text"
      ? { text: block.text }
      : block.type === "thinking"
        ? { reasoning: block.thinking, signed: block.signature.startsWith("weir1.openai.") }
        : block.type === "tool_use"
          ? { name: block.name, input: block.input as Record<string, unknown> }
          : block,
  );
  expect<unknown>(said).toEqual([
    // A client that wants no thinking shown gets the block without its text.
    ...(reasoning === undefined ? [] : [{ reasoning: hidden ? "" : reasoning, signed: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls,
  ]);
  const ids = message.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  expect(new Set(ids).size).toBe(calls.length);
  expect(message.stop_reason).toBe(calls.length ? "tool_use" : "end_turn");
  expect(message.usage).toMatchObject({
    input_tokens: USAGE.input - USAGE.cached,
    cache_read_input_tokens: USAGE.cached,
    output_tokens: USAGE.output,
  });
}

describe.skipIf(!haveCaptures)("clients of /v1/chat/completions at a messages upstream", () => {
  for (const replay of CHAT_CLIENTS) {
    test(`${replay.name}: all it says arrives`, async () => {
      messagesUpstream.answer(() => messagesAnswer(scenarios([])[0]!));
      const response = await post(onMessages.url, replay);
      expect(response.status).toBe(200);
      await streamedText(response);
      const body = received(messagesUpstream);
      expectSame(saidInChat(replay.body), saidInMessages(body));
      const roles = (body.messages as JsonObject[]).map(({ role }) => role);
      expect(roles).toEqual(roles.map((_, index) => (index % 2 === 0 ? "user" : "assistant")));
      expect(JSON.stringify(body)).not.toMatch(
        /"text":"\s*"|"(store|stream_options|tool_calls|parameters)":/,
      );
    });

    for (const scenario of scenarios(replay.tools))
      test(`${replay.name} is answered with ${scenario.name}`, async () => {
        messagesUpstream.answer(() => messagesAnswer(scenario));
        if (scenario.overloaded) return expectOverloadedCompletion(replay);
        const seen = await seeCompletion(onMessages.url, replay);
        const { message, finish_reason } = seen.completion.choices[0]!;
        expect(message.content ?? "").toBe(scenario.text ?? "");
        expect(seen.reasoning).toBe(scenario.reasoning ?? "");
        if (scenario.reasoning !== undefined) expect(JSON.stringify(seen.chunks)).toContain(SIGNATURE);
        const called = (message.tool_calls ?? []) as OpenAI.ChatCompletionMessageFunctionToolCall[];
        expect(called.map((call) => call.function.name)).toEqual(scenario.calls.map(({ name }) => name));
        expect(called.map((call) => JSON.parse(call.function.arguments) as unknown)).toEqual(
          scenario.calls.map(({ input }) => input),
        );
        expect(finish_reason).toBe(scenario.calls.length ? "tool_calls" : "stop");
        expectUsage(seen.chunks, replay);
      });
  }
});

/** Shown when it was asked for, and only then. */
function expectUsage(chunks: OpenAI.ChatCompletionChunk[], replay: Replay): void {
  const shown = chunks.flatMap(({ usage }) => (usage ? [usage] : []));
  if (!replay.body.stream_options) return expect(shown).toEqual([]);
  expect(shown).toHaveLength(1);
  expect(shown[0]).toMatchObject({
    prompt_tokens: USAGE.input,
    completion_tokens: USAGE.output,
    total_tokens: USAGE.input + USAGE.output,
    prompt_tokens_details: { cached_tokens: USAGE.cached },
  });
}

async function expectOverloadedCompletion(replay: Replay): Promise<void> {
  const seen = await see(() => seeCompletion(onMessages.url, replay));
  expect(seen).toMatchObject({ error: { code: "server_is_overloaded" } });
  const text = await streamedText(await post(onMessages.url, replay));
  expect(text).toContain('"Hell"');
  expect(text.trimEnd().split("\n\n").at(-1)).toStartWith('data: {"error":');
  expect(text).not.toMatch(/\[DONE\]|"finish_reason":"/);
}

const MESSAGE = {
  id: "msg_up",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Hello" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 7, output_tokens: 7 },
};
const COMPLETION = {
  id: "chatcmpl-up",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
};

describe.skipIf(!haveCaptures)("clients at an upstream of their own format", () => {
  const lanes = [
    { clients: MESSAGES_CLIENTS, model: "claude-opus-4-6", own: /^claude-/, write: messagesAnswer },
    { clients: CHAT_CLIENTS, model: "gpt-4.1", own: /^gpt-/, write: chatAnswer },
  ];
  for (const { clients, model, own, write } of lanes) {
    for (const replay of clients) {
      test(`${replay.name}: the bytes pass as they are, there and back`, async () => {
        const isMessages = clients === MESSAGES_CLIENTS;
        const [gateway, upstream] = isMessages ? [onMessages, messagesUpstream] : [onChat, chatUpstream];
        const name = String(replay.body.model);
        const renamed = own.test(name)
          ? replay.text
          : replay.text.replace(`"model":${JSON.stringify(name)}`, `"model":"${model}"`);
        const api = isMessages ? "messages" : "chat";
        const expected = withKnownLimit(
          api,
          { ...replay.body, model },
          nativeText(api, replay.body, renamed),
        );
        for (const scenario of scenarios(replay.tools)) {
          const answer =
            replay.body.stream === true ? write(scenario) : json(isMessages ? MESSAGE : COMPLETION);
          upstream.answer(() => answer);
          const response = await post(gateway.url, replay);
          expect(response.status).toBe(200);
          const isAsked = isAskedFor(api, replay.body);
          const shown = [...(answer.body as string[])].filter(
            (event) => !isAsked || !event.includes('"choices":[],'),
          );
          expect(await streamedText(response)).toBe(shown.join(""));
          const { body, headers } = upstream.requests.at(-1)!;
          expect(body.toString("utf8")).toBe(expected);
          expect(headers.get("anthropic-beta")).toBe(header(replay, "anthropic-beta"));
          expect(headers.get("x-api-key")).toBe(isMessages ? UPSTREAM_KEYS.anthropic : null);
        }
      });
    }
  }
});

function header(replay: Replay, wanted: string): string | null {
  return replay.headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null;
}
