/** Exchanges of Claude over InvokeModel, made by hand in the form of recordings. */
import type { Recording } from "../helpers/recordings.ts";
import { eventStream } from "./plain-answer.ts";

type Value = Record<string, unknown>;

const MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

/** @param answer a list holds the events of a stream */
function made(id: string, answer: Value | readonly Value[]): Recording {
  const events = Array.isArray(answer) ? (answer as readonly Value[]) : undefined;
  const frames = events?.map((event): [string, Value] => [
    "chunk",
    { bytes: Buffer.from(JSON.stringify(event)).toString("base64"), p: "abcdef" },
  ]);
  const operation = events ? "invoke-with-response-stream" : "invoke";
  return {
    ...{
      id: `invoke-${id}`,
      vendor: "bedrock",
      api: "bedrock_invoke",
      model: MODEL,
      fidelity: "made",
      tags: [],
    },
    stream: events !== undefined,
    framing: events ? "aws-eventstream" : "json",
    source: { repo: "fixtures", path: `invoke-${id}`, index: 0, of: 1 },
    request: {
      method: "POST",
      path: `/model/${encodeURIComponent(MODEL)}/${operation}`,
      headers: {},
      body: BODY,
    },
    response: {
      status: 200,
      headers: {},
      ...(frames
        ? { body_base64: eventStream(frames).toString("base64") }
        : { body: JSON.stringify(answer) }),
    },
  };
}

const BODY = {
  anthropic_version: "bedrock-2023-05-31",
  max_tokens: 200,
  system: "Answer in one sentence.",
  messages: [{ role: "user", content: [{ type: "text", text: "What is the weather in Oslo?" }] }],
};

const USAGE = { input_tokens: 20, output_tokens: 15 };
const HEAD = { id: "msg_bdrk_01", type: "message", role: "assistant", model: "claude-sonnet-4-5-20250929" };

const block = (index: number, content_block: Value, deltas: readonly Value[]): Value[] => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

export const INVOKE_FIXTURES: readonly Recording[] = [
  made("json", {
    ...HEAD,
    content: [{ type: "text", text: "It snows." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: USAGE,
  }),
  made("stream", [
    {
      type: "message_start",
      message: {
        ...HEAD,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 20, output_tokens: 1 },
      },
    },
    ...block(0, { type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: "A city is asked for." },
      { type: "signature_delta", signature: "c2lnbmF0dXJl" },
    ]),
    ...block(1, { type: "text", text: "" }, [
      { type: "text_delta", text: "I look " },
      { type: "text_delta", text: "it up." },
    ]),
    ...block(2, { type: "tool_use", id: "toolu_bdrk_01", name: "get_weather", input: {} }, [
      { type: "input_json_delta", partial_json: '{"city":' },
      { type: "input_json_delta", partial_json: '"Oslo"}' },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: "tool_use", stop_sequence: null },
      usage: { output_tokens: 15 },
    },
    {
      type: "message_stop",
      "amazon-bedrock-invocationMetrics": {
        inputTokenCount: 20,
        outputTokenCount: 15,
        invocationLatency: 100,
      },
    },
  ]),
];
