/**
 * Exchanges of the Converse format, made by hand in the form of recordings, that hold what its judges look at. Those that no
 * recording has say so in their names: `synthetic`.
 */
import { awsMessage } from "../helpers/aws-event-stream.ts";
import type { Recording } from "../helpers/recordings.ts";
import { eventStream } from "./plain-answer.ts";

type Value = Record<string, unknown>;
type Events = readonly [name: string, payload: Value][];

interface Made {
  /** A list holds the events of a stream. */
  answer: Value | Events;
  model?: string;
  status?: number;
  headers?: Record<string, string>;
  /** Bytes behind the events. */
  behind?: Buffer;
  source?: Recording["source"];
}

function made(
  id: string,
  { answer, model = CLAUDE, status = 200, headers = {}, behind, source }: Made,
): Recording {
  const events = Array.isArray(answer) ? (answer as Events) : undefined;
  const bytes = events && Buffer.concat([eventStream(events), behind ?? Buffer.alloc(0)]);
  return {
    ...{ id: `converse-${id}`, vendor: "bedrock", api: "bedrock", model, fidelity: "made", tags: [] },
    stream: events !== undefined,
    framing: events ? "aws-eventstream" : "json",
    source: source ?? { repo: "fixtures", path: `converse-${id}`, index: 0, of: 1 },
    request: null,
    response: {
      status,
      headers,
      ...(bytes ? { body_base64: bytes.toString("base64") } : { body: JSON.stringify(answer) }),
    },
  };
}

const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "amazon.nova-lite-v1:0";

const USAGE = {
  ...{
    inputTokens: 20,
    outputTokens: 15,
    totalTokens: 142,
    cacheReadInputTokens: 100,
    cacheWriteInputTokens: 7,
  },
  ...{ cacheReadInputTokenCount: 100, cacheWriteInputTokenCount: 7 },
};

const answer = (content: readonly Value[], stopReason: string): Value => ({
  output: { message: { role: "assistant", content } },
  stopReason,
  usage: USAGE,
  metrics: { latencyMs: 100 },
});

const THINKING = {
  reasoningContent: { reasoningText: { text: "Two cities are asked for.", signature: "c2lnbmF0dXJl" } },
};
const callOf = (toolUseId: string, city: string) => ({
  toolUse: { toolUseId, name: "get_weather", input: { city } },
});

const ENDING: Events = [["metadata", { usage: USAGE, metrics: { latencyMs: 100 } }]];
const start: Events = [["messageStart", { role: "assistant" }]];

function block(contentBlockIndex: number, deltas: readonly Value[], begun?: Value): Events {
  return [
    ...(begun ? ([["contentBlockStart", { contentBlockIndex, start: begun }]] as Events) : []),
    ...deltas.map((delta): Events[number] => ["contentBlockDelta", { contentBlockIndex, delta, p: "abc" }]),
    ["contentBlockStop", { contentBlockIndex }],
  ];
}

const stop = (stopReason: string): Events => [["messageStop", { stopReason }]];

const exception = (type: string, message: string) =>
  awsMessage(
    { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" },
    JSON.stringify({ message }),
  );

const SPEECH: Events = [
  ...start,
  ...block(0, [{ text: "" }]),
  ...block(1, [
    { reasoningContent: { text: "Two cities." } },
    { reasoningContent: { signature: "c2lnbmF0dXJl" } },
  ]),
  ...block(2, [{ text: "I look " }, { text: "it up." }]),
  ...block(3, [{ toolUse: { input: '{"city":' } }, { toolUse: { input: '"Oslo"}' } }], {
    toolUse: { toolUseId: "tooluse_a1", name: "get_weather" },
  }),
  ...block(5, [{ toolUse: { input: '{"city":"Lima"}' } }], {
    toolUse: { toolUseId: "tooluse_b2", name: "get_weather" },
  }),
  ...stop("tool_use"),
  ...ENDING,
];

export const CONVERSE_FIXTURES: readonly Recording[] = [
  made("calls", {
    answer: answer(
      [THINKING, { text: "I look it up." }, callOf("tooluse_a1", "Oslo"), callOf("tooluse_b2", "Lima")],
      "tool_use",
    ),
  }),
  made("text", { model: NOVA, answer: answer([{ text: "It snows." }], "end_turn") }),
  made("encrypted-reasoning", {
    answer: answer(
      [
        { reasoningContent: { redactedContent: Buffer.from("EuoBCoYBGA").toString("base64") } },
        { text: "It snows." },
      ],
      "end_turn",
    ),
  }),
  made("length", { answer: answer([{ text: "The weather in" }], "max_tokens") }),
  made("guardrail", {
    answer: answer([{ text: "The capital of {ADDRESS} is {ADDRESS}." }], "guardrail_intervened"),
  }),
  made("stream", { answer: SPEECH }),
  made("server-tool", {
    model: "us.amazon.nova-2-lite-v1:0",
    answer: [
      ...start,
      ...block(0, [{ toolUse: { input: "{}" } }], {
        toolUse: { toolUseId: "t1", name: "nova_grounding", type: "server_tool_use" },
      }),
      ...block(1, [{ toolResult: [{ text: "[HIDDEN]" }] }], {
        toolResult: { toolUseId: "t1", type: "nova_grounding_result", status: "success" },
      }),
      ...block(2, [
        { text: "Ruby 4 is out." },
        { citation: { location: { web: { url: "https://example.com/ruby", domain: "example.com" } } } },
      ]),
      ...stop("end_turn"),
      ...ENDING,
    ],
  }),
  made("synthetic-throttled-in-stream", {
    answer: [...start, ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "It sn" } }]],
    behind: exception("throttlingException", "Too many requests"),
  }),
  made("synthetic-cut-stream", {
    answer: [...start, ...block(0, [{ text: "It snows." }])],
  }),
  made("synthetic-throttled", {
    status: 429,
    headers: {
      "x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/",
    },
    answer: { message: "Too many requests, please wait before trying again." },
  }),
  made("bad-request", {
    status: 400,
    headers: {
      "x-amzn-errortype": "ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/",
    },
    answer: { message: "The provided model identifier is invalid." },
  }),
  ...[0, 1].map((index) =>
    made(`session-${index}`, {
      source: { repo: "fixtures", path: "converse session", index, of: 2 },
      // Without calls: by their ids weir would remember the reasoning itself.
      answer: answer(
        index === 0 ? [THINKING, { text: "I look it up." }] : [{ text: "It snows there." }],
        "end_turn",
      ),
    }),
  ),
  ...[0, 1].map((index) =>
    made(`session-with-calls-${index}`, {
      source: { repo: "fixtures", path: "converse session with calls", index, of: 2 },
      answer:
        index === 0
          ? answer(
              [{ text: "I look it up." }, callOf("tooluse_c3", "Oslo"), callOf("tooluse_d4", "Lima")],
              "tool_use",
            )
          : answer([{ text: "It snows there." }], "end_turn"),
    }),
  ),
];
