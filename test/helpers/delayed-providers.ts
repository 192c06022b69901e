/** Providers of every format and framing whose answers wait at places of choice. */
import type { JsonObject } from "../../src/core/json.ts";
import { awsStream } from "./aws-event-stream.ts";
import { invokeFrame } from "./bedrock.ts";
import { chatChunk, messagesEvent, messagesText } from "./event-streams.ts";
import { responsesStream } from "./responses-events.ts";
import type { Answer, Piece } from "./upstream.ts";

/** What the model says: text in several events, or one tool call and nothing before it. */
export type Script = "text" | "call";
export const SCRIPTS: readonly Script[] = ["text", "call"];

const TEXTS = ["Do NOT ", "delete ", "the database."];
const CALL = { name: "look_up", input: { city: "Graz" } };

export interface DelayedProvider {
  /** Name of the provider in the config. */
  name: string;
  model: string;
  type: string;
  /** The events of an answer, one element each, and what else its body needs. */
  pieces: Record<Script, readonly (string | Uint8Array)[]>;
}

const data = (event: JsonObject | object) => JSON.stringify(event);

const CHAT: Record<Script, readonly string[]> = {
  text: [
    chatChunk({ role: "assistant", content: TEXTS[0]! }),
    ...TEXTS.slice(1).map((content) => chatChunk({ content })),
    chatChunk({}, "stop"),
    "data: [DONE]\n\n",
  ],
  call: [
    chatChunk({
      role: "assistant",
      tool_calls: [
        {
          ...{ index: 0, id: "call_1", type: "function" },
          function: { name: CALL.name, arguments: data(CALL.input) },
        },
      ],
    }),
    chatChunk({}, "tool_calls"),
    "data: [DONE]\n\n",
  ],
};

const MESSAGES: Record<Script, readonly string[]> = {
  text: messagesText(...TEXTS),
  call: [
    messagesText("")[0]!,
    messagesEvent("content_block_start", {
      index: 0,
      content_block: { type: "tool_use", id: "toolu_1", name: CALL.name, input: {} },
    }),
    messagesEvent("content_block_delta", {
      index: 0,
      delta: { type: "input_json_delta", partial_json: data(CALL.input) },
    }),
    messagesEvent("content_block_stop", { index: 0 }),
    messagesEvent("message_delta", {
      delta: { stop_reason: "tool_use", stop_sequence: null },
      usage: { output_tokens: 2 },
    }),
    messagesEvent("message_stop"),
  ],
};

const geminiRecord = (parts: JsonObject[], finishReason?: string): JsonObject => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 },
  modelVersion: "m",
  responseId: "r-1",
});
const GEMINI: Record<Script, readonly JsonObject[]> = {
  text: TEXTS.map((text, index) => geminiRecord([{ text }], TEXTS[index + 1] === undefined ? "STOP" : "")),
  call: [geminiRecord([{ functionCall: { name: CALL.name, args: CALL.input } }], "STOP")],
};

const CONVERSE_END = (stopReason: string): [string, object][] => [
  ["contentBlockStop", { contentBlockIndex: 0 }],
  ["messageStop", { stopReason }],
  ["metadata", { usage: { inputTokens: 9, outputTokens: 4, totalTokens: 13 }, metrics: { latencyMs: 9 } }],
];
const CONVERSE: Record<Script, readonly [string, object][]> = {
  text: [
    ["messageStart", { role: "assistant" }],
    ...TEXTS.map((text): [string, object] => [
      "contentBlockDelta",
      { contentBlockIndex: 0, delta: { text } },
    ]),
    ...CONVERSE_END("end_turn"),
  ],
  call: [
    ["messageStart", { role: "assistant" }],
    [
      "contentBlockStart",
      { contentBlockIndex: 0, start: { toolUse: { toolUseId: "tooluse_1", name: CALL.name } } },
    ],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: data(CALL.input) } } }],
    ...CONVERSE_END("tool_use"),
  ],
};

/** The JSON of each event of a text of server-sent events. */
const jsonOf = (events: readonly string[]) =>
  events.map((event) => /^data: (.*)$/m.exec(event)![1]!).filter((text) => text !== "[DONE]");
const asLines = (values: readonly string[]) => values.map((value) => `${value}\n`);
const asArray = (values: readonly string[]) => [
  ...values.map((value, index) => `${index === 0 ? "[" : ",\r\n"}${value}`),
  "]",
];
const both = <Value>(
  scripts: Record<Script, Value>,
  write: (value: Value) => readonly (string | Uint8Array)[],
) => ({
  text: write(scripts.text),
  call: write(scripts.call),
});

const SSE = "text/event-stream";
const AWS = "application/vnd.amazon.eventstream";
const CLAUDE_ON_BEDROCK = "us.anthropic.claude-sonnet-4-6-v1:0";

export const PROVIDERS: readonly DelayedProvider[] = [
  { name: "chat", model: "m", type: SSE, pieces: CHAT },
  { name: "messages", model: "m", type: SSE, pieces: MESSAGES },
  {
    ...{ name: "responses", model: "m", type: SSE },
    pieces: {
      text: responsesStream({ items: [{ type: "message", text: TEXTS.join("") }] }),
      call: responsesStream({
        items: [{ type: "function_call", name: CALL.name, arguments: data(CALL.input) }],
      }),
    },
  },
  {
    ...{ name: "gemini", model: "m", type: SSE },
    pieces: both(GEMINI, (records) => records.map((record) => `data: ${data(record)}\r\n\r\n`)),
  },
  {
    ...{ name: "converse", model: "m", type: AWS },
    pieces: both(CONVERSE, (events) =>
      events.map(([event, body]) => awsStream([{ event, data: data(body) }])),
    ),
  },
  {
    ...{ name: "bedrock", model: CLAUDE_ON_BEDROCK, type: AWS },
    pieces: both(MESSAGES, (events) => jsonOf(events).map((one) => invokeFrame(JSON.parse(one) as object))),
  },
  {
    ...{ name: "lines", model: "m", type: "application/x-ndjson" },
    pieces: both(CHAT, (events) => asLines(jsonOf(events))),
  },
  {
    ...{ name: "array", model: "m", type: "application/json" },
    pieces: both(CHAT, (events) => asArray(jsonOf(events))),
  },
  {
    ...{ name: "gemini-array", model: "m", type: "application/json" },
    pieces: both(GEMINI, (records) => asArray(records.map(data))),
  },
];

/** The config of all of them, for one fake provider. @param url of the fake */
export function delayedConfig(url: string): {
  providers: Record<string, object>;
  env: Record<string, string>;
  plugin: string;
} {
  const host = (speaks: string, path = "") => ({ speaks, baseUrl: url + path, models: ["m"] });
  const providers = {
    chat: host("chat-completions", "/v1"),
    messages: host("messages"),
    responses: host("responses", "/v1"),
    gemini: { baseUrl: url, apiKey: "AIza-canary-delayed" },
    converse: { ...host("converse"), apiKey: "key-0123456789ab" },
  };
  const plugin = `import { chatCompletions, definePlugin, gemini, jsonArray, jsonLines } from "weir";
const chat = (name, framing) =>
  chatCompletions({ name, baseUrl: "${url}", framing: { "chat-completions": framing } });
export default definePlugin({ name: "framed", providers: [
  chat("lines", jsonLines),
  chat("array", jsonArray),
  gemini({ name: "gemini-array", baseUrl: "${url}", framing: { gemini: jsonArray } }),
] });`;
  const env = {
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIDCANARY0123456789",
    AWS_SECRET_ACCESS_KEY: "secret-canary-0123456789abcdef",
    BEDROCK_BASE_URL: url,
  };
  return { providers, env, plugin };
}

/** Where an answer waits: before its head, before its first byte, behind or within its nth piece. */
export type Wait =
  { at: "head" } | { at: "body" } | { at: "behind"; piece: number } | { at: "within"; piece: number };

/** @param cutBehind number of pieces after which the connection breaks */
export async function delayedAnswer(
  { type, pieces }: DelayedProvider,
  script: Script,
  waits: readonly Wait[],
  ms: number,
  cutBehind?: number,
): Promise<Answer> {
  const isAt = (at: Wait["at"], piece?: number) =>
    waits.some(
      (wait) => wait.at === at && (piece === undefined || ("piece" in wait && wait.piece === piece)),
    );
  const pause: Piece = { wait: ms };
  const sent: Piece[] = isAt("body") ? [pause] : [];
  for (const [index, piece] of pieces[script].slice(0, cutBehind).entries()) {
    const bytes = Buffer.from(piece);
    const half = Math.floor(bytes.length / 2);
    if (isAt("within", index)) sent.push(bytes.subarray(0, half), pause, bytes.subarray(half));
    else sent.push(bytes);
    if (isAt("behind", index)) sent.push(pause);
  }
  if (isAt("head")) await Bun.sleep(ms);
  // What was written has time to arrive before the connection breaks.
  if (cutBehind !== undefined) sent.push({ wait: 50 });
  const ending = cutBehind === undefined ? "whole" : "fin";
  return { headers: { "content-type": type }, body: sent, framing: "chunked", ending };
}
