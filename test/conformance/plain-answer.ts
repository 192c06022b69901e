/** The smallest whole answer of each API, for exchanges in which only the request is judged. */
import { awsMessage } from "../helpers/aws-event-stream.ts";
import { json, type Answer } from "../helpers/upstream.ts";
import type { HostApi } from "./hosts.ts";
import type { Api } from "./policy.ts";

/** What an upstream of the API answers: one word. */
export function plainAnswer(api: Api, stream: boolean): Answer {
  if (!stream) return json(ANSWERS[api]);
  return { headers: { "content-type": "text/event-stream" }, body: STREAMS[api] };
}

/** What local hosts answer when weir asks for their models. */
export const noModels = (): Answer => json({ object: "list", data: [] });

const COUNTS = { input_tokens: 3, output_tokens: 1 };
const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "m" };

const ANSWERS: Record<Api, unknown> = {
  chat: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  },
  messages: {
    ...MESSAGE,
    content: [{ type: "text", text: "Yes." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: COUNTS,
  },
};

const CHUNK = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };

const STREAMS: Record<Api, string> = {
  chat: [
    {
      ...CHUNK,
      choices: [{ index: 0, delta: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
    },
    { ...CHUNK, choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } },
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .concat("data: [DONE]\n\n")
    .join(""),
  messages: [
    { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null, usage: COUNTS } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Yes." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: COUNTS },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(""),
};

/** What a host of Google's or Amazon's format answers: one word. */
export function hostAnswer(api: HostApi, stream: boolean): Answer {
  return HOSTS[api](stream);
}

const GEMINI = {
  candidates: [{ content: { role: "model", parts: [{ text: "Yes." }] }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
  modelVersion: "m",
  responseId: "answer1",
};

const CONVERSE_USAGE = { inputTokens: 3, outputTokens: 1, totalTokens: 4 };

const CONVERSE_EVENTS: readonly [name: string, payload: unknown][] = [
  ["messageStart", { role: "assistant" }],
  ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Yes." } }],
  ["contentBlockStop", { contentBlockIndex: 0 }],
  ["messageStop", { stopReason: "end_turn" }],
  ["metadata", { usage: CONVERSE_USAGE, metrics: { latencyMs: 1 } }],
];

const HOSTS: Record<HostApi, (stream: boolean) => Answer> = {
  gemini: (stream) =>
    stream
      ? { headers: { "content-type": "text/event-stream" }, body: `data: ${JSON.stringify(GEMINI)}\r\n\r\n` }
      : json(GEMINI),
  bedrock: (stream) =>
    stream
      ? {
          headers: { "content-type": "application/vnd.amazon.eventstream" },
          body: eventStream(CONVERSE_EVENTS),
        }
      : json({
          output: { message: { role: "assistant", content: [{ text: "Yes." }] } },
          stopReason: "end_turn",
          usage: CONVERSE_USAGE,
          metrics: { latencyMs: 1 },
        }),
};

/** The messages of an AWS event stream, from the names and payloads of its events. */
export function eventStream(events: readonly [name: string, payload: unknown][]): Buffer {
  return Buffer.concat(
    events.map(([name, payload]) =>
      awsMessage(
        { ":event-type": name, ":content-type": "application/json", ":message-type": "event" },
        JSON.stringify(payload),
      ),
    ),
  );
}
