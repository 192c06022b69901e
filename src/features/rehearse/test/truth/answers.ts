/** What the fake provider answers: in each format the same word, with the tokens of the call. */
import { type Answer, json, sse } from "../../../../../test/helpers/answers.ts";
import { awsMessage } from "../../../../../test/helpers/aws-event-stream.ts";
import type { Tokens } from "./corpus.ts";

type Value = Record<string, unknown>;

/** @param path with the query @param body of the request */
export function answerTo(path: string, body: Value, tokens: Tokens): Answer {
  const [, answer] = PATHS.find(([pattern]) => pattern.test(path)) ?? [];
  return answer?.(body, tokens) ?? json({ error: { message: `The fake does not know ${path}.` } }, 404);
}

type Write = (body: Value, tokens: Tokens) => Answer;

const isStream = (body: Value) => body["stream"] === true;

const chatUsage = ({ input, cacheRead, output }: Tokens) => ({
  prompt_tokens: input + cacheRead,
  completion_tokens: output,
  total_tokens: input + cacheRead + output,
  prompt_tokens_details: { cached_tokens: cacheRead },
});

const chat: Write = (body, tokens) => {
  const head = { id: "chatcmpl-truth", created: 1_790_000_000, model: body["model"] ?? "truth" };
  const usage = chatUsage(tokens);
  if (!isStream(body)) {
    const message = { role: "assistant", content: "yes" };
    return json({
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage,
    });
  }
  const chunk = (delta: Value, reason: string | null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const chunks = [
    chunk({ role: "assistant", content: "yes" }, null),
    chunk({}, "stop"),
    { ...head, object: "chat.completion.chunk", choices: [], usage },
  ];
  return sse([...chunks.map(data), "data: [DONE]\n\n"]);
};

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: Value) => `event: ${String(value["type"])}\n${data(value)}`;

const completion: Write = (body, tokens) => {
  const head = { id: "cmpl-truth", object: "text_completion", created: 1_790_000_000, model: body["model"] };
  const choices = [{ index: 0, text: "yes", finish_reason: "stop", logprobs: null }];
  const whole = { ...head, choices, usage: chatUsage(tokens) };
  return isStream(body) ? sse([data(whole), "data: [DONE]\n\n"]) : json(whole);
};

const claudeUsage = ({ input, cacheRead, output }: Tokens) => ({
  input_tokens: input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cacheRead,
  output_tokens: output,
});

function claudeMessage(body: Value, tokens: Tokens): Value {
  return {
    id: "msg_truth",
    type: "message",
    role: "assistant",
    model: body["model"] ?? "claude",
    content: [{ type: "text", text: "yes" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: claudeUsage(tokens),
  };
}

function claudeEvents(body: Value, tokens: Tokens): Value[] {
  const whole = claudeMessage(body, tokens);
  const usage = claudeUsage(tokens);
  return [
    { type: "message_start", message: { ...whole, content: [], stop_reason: null, usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "yes" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

const messages: Write = (body, tokens) =>
  isStream(body) ? sse(claudeEvents(body, tokens).map(event)) : json(claudeMessage(body, tokens));

function awsEvents(frames: readonly (readonly [string, Value])[]): Answer {
  const headers = (name: string) => ({
    ":event-type": name,
    ":content-type": "application/json",
    ":message-type": "event",
  });
  const bytes = frames.map(([name, value]) => awsMessage(headers(name), JSON.stringify(value)));
  return {
    headers: { "content-type": "application/vnd.amazon.eventstream" },
    body: bytes,
    framing: "chunked",
  };
}

const invokeStream: Write = (body, tokens) =>
  awsEvents(
    claudeEvents(body, tokens).map((each) => [
      "chunk",
      { bytes: Buffer.from(JSON.stringify(each)).toString("base64") },
    ]),
  );

const converseUsage = ({ input, cacheRead, output }: Tokens) => ({
  inputTokens: input,
  outputTokens: output,
  totalTokens: input + cacheRead + output,
  cacheReadInputTokens: cacheRead,
  cacheWriteInputTokens: 0,
});

const converse: Write = (_body, tokens) =>
  json({
    output: { message: { role: "assistant", content: [{ text: "yes" }] } },
    stopReason: "end_turn",
    usage: converseUsage(tokens),
    metrics: { latencyMs: 1 },
  });

const converseStream: Write = (_body, tokens) =>
  awsEvents([
    ["messageStart", { role: "assistant" }],
    ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "yes" } }],
    ["contentBlockStop", { contentBlockIndex: 0 }],
    ["messageStop", { stopReason: "end_turn" }],
    ["metadata", { usage: converseUsage(tokens), metrics: { latencyMs: 1 } }],
  ]);

function responseOf(body: Value, tokens: Tokens): Value {
  const { input, cacheRead, output } = tokens;
  return {
    id: "resp_truth",
    object: "response",
    created_at: 1_790_000_000,
    status: "completed",
    model: body["model"],
    output: [item("completed", [{ type: "output_text", text: "yes", annotations: [] }])],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    usage: {
      input_tokens: input + cacheRead,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + cacheRead + output,
    },
  };
}

const item = (status: string, content: readonly Value[]): Value => ({
  type: "message",
  id: "msg_truth",
  status,
  role: "assistant",
  content,
});

const responses: Write = (body, tokens) => {
  const whole = responseOf(body, tokens);
  if (!isStream(body)) return json(whole);
  const begun = { ...whole, status: "in_progress", output: [], usage: null };
  const part = { type: "output_text", text: "yes", annotations: [] };
  const at = { item_id: "msg_truth", output_index: 0, content_index: 0 };
  const events: Value[] = [
    { type: "response.created", response: begun },
    { type: "response.output_item.added", output_index: 0, item: item("in_progress", []) },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...at, delta: "yes" },
    { type: "response.output_text.done", ...at, text: "yes" },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index: 0, item: item("completed", [part]) },
    { type: "response.completed", response: whole },
  ];
  return sse(events.map((each, number) => event({ ...each, sequence_number: number })));
};

const geminiAnswer = ({ input, cacheRead, output }: Tokens) => ({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text: "yes" }] }, finishReason: "STOP" }],
  usageMetadata: {
    promptTokenCount: input + cacheRead,
    cachedContentTokenCount: cacheRead,
    candidatesTokenCount: output,
    totalTokenCount: input + cacheRead + output,
  },
  modelVersion: "truth",
  responseId: "truth",
});

/** The texts of a request for embeddings. */
const countOf = (body: Value) => {
  const texts = body["input"] ?? body["texts"] ?? body["requests"] ?? body["inputs"];
  return Array.isArray(texts) ? texts.length : 1;
};

const VECTOR = [0.5, -0.25];
const vectors = (body: Value) => Array.from({ length: countOf(body) }, () => VECTOR);

const embeddings: Write = (body, { input }) => {
  const packed = Buffer.from(new Float32Array(VECTOR).buffer).toString("base64");
  const embedding = body["encoding_format"] === "base64" ? packed : VECTOR;
  return json({
    object: "list",
    data: vectors(body).map((_, index) => ({ object: "embedding", index, embedding })),
    model: body["model"],
    usage: { prompt_tokens: input, total_tokens: input },
  });
};

const cohereEmbed: Write = (body, { input }) =>
  json({
    id: "truth",
    embeddings: { float: vectors(body) },
    texts: [],
    meta: { billed_units: { input_tokens: input } },
  });

const titan: Write = (_body, { input }) =>
  json({ embedding: VECTOR, embeddingsByType: { float: VECTOR }, inputTextTokenCount: input });

const PATHS: readonly (readonly [RegExp, Write])[] = [
  [/\/chat\/completions/, chat],
  [/\/completions/, completion],
  [/\/messages/, messages],
  [/\/responses/, responses],
  [/:streamGenerateContent/, (_body, tokens) => sse([data(geminiAnswer(tokens))])],
  [/:generateContent/, (_body, tokens) => json(geminiAnswer(tokens))],
  [/:batchEmbedContents/, (body) => json({ embeddings: vectors(body).map((values) => ({ values })) })],
  [/:embedContent/, () => json({ embedding: { values: VECTOR } })],
  [/\/invoke-with-response-stream/, invokeStream],
  [/titan-embed[^/]*\/invoke/, titan],
  [/\/invoke/, (body, tokens) => json(claudeMessage(body, tokens))],
  [/\/converse-stream/, converseStream],
  [/\/converse/, converse],
  [/\/v2\/embed$/, cohereEmbed],
  [/\/embeddings/, embeddings],
];
