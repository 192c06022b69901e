/** A model for tests: it says what a script tells it, as a provider of each of three formats. */
import { isObject, type Json, type JsonObject } from "../../../../core/json.ts";
import { sse, startUpstream, type Upstream } from "../../../../../test/helpers/upstream.ts";

/** What the model says in one turn. */
export interface Said {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input?: JsonObject | string }[];
  /** It fails with this status. */
  readonly status?: number;
  /** Milliseconds until it begins. */
  readonly wait?: number;
}

/** What the model got. */
export interface Heard {
  readonly format: ModelFormat;
  readonly body: JsonObject;
  /** Names of the functions that it may call. */
  readonly tools: readonly string[];
  /** The results of tools in the conversation, in order. */
  readonly results: readonly string[];
  /** How many requests came before this one. */
  readonly count: number;
}

export type ModelFormat = "chat-completions" | "messages" | "responses";
export const MODEL_FORMATS: readonly ModelFormat[] = ["chat-completions", "messages", "responses"];

export interface Model extends Upstream {
  readonly heard: Heard[];
  /** Providers with the models `chat-completions/m`, `messages/m` and `responses/m`. */
  readonly providers: Record<string, JsonObject>;
}

const PATHS: Readonly<Record<string, ModelFormat>> = {
  "/v1/chat/completions": "chat-completions",
  "/v1/messages": "messages",
  "/v1/responses": "responses",
};

/** Tokens of each turn. */
export const TURN_TOKENS = { input: 10, output: 5 };

export function startModel(script: (heard: Heard) => Said): Model {
  const heard: Heard[] = [];
  const upstream = startUpstream((request) => {
    const format = PATHS[request.path.split("?")[0]!];
    const body = JSON.parse(String(request.body)) as JsonObject;
    if (!format) return { status: 404, body: "{}" };
    const one = { format, body, count: heard.length, tools: toolsOf(body), results: resultsOf(body, format) };
    heard.push(one);
    const said = script(one);
    if (said.status !== undefined) return { status: said.status, body: "{}" };
    const pieces = WRITERS[format](said, heard.length);
    return sse(said.wait === undefined ? pieces : [{ wait: said.wait }, ...pieces]);
  });
  const common = { apiKey: "unused", models: ["m"] };
  const providers = {
    "chat-completions": { ...common, baseUrl: `${upstream.url}/v1`, speaks: "chat-completions" },
    messages: { ...common, baseUrl: upstream.url, speaks: "messages" },
    responses: { ...common, baseUrl: `${upstream.url}/v1`, speaks: "responses" },
  };
  return Object.assign(upstream, { heard, providers });
}

function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function toolsOf(body: JsonObject): string[] {
  return list(body["tools"]).map(({ name, function: inner, type }) =>
    String(name ?? (isObject(inner) ? inner["name"] : type)),
  );
}

function resultsOf(body: JsonObject, format: ModelFormat): string[] {
  if (format === "responses")
    return list(body["input"])
      .filter(({ type }) => type === "function_call_output")
      .map(({ output }) => textOf(output));
  const messages = list(body["messages"]);
  if (format === "chat-completions")
    return messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content));
  return messages
    .flatMap(({ content }) => list(content))
    .filter(({ type }) => type === "tool_result")
    .map(({ content }) => textOf(content));
}

function textOf(content: Json | undefined): string {
  return typeof content === "string"
    ? content
    : list(content)
        .map(({ text }) => String(text ?? ""))
        .join("");
}

function inputOf(input: JsonObject | string | undefined): string {
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}

const WRITERS: Record<ModelFormat, (said: Said, turn: number) => string[]> = {
  "chat-completions": writeChat,
  messages: writeMessages,
  responses: writeResponses,
};

function writeChat({ text, calls = [] }: Said, turn: number): string[] {
  const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
    `data: ${JSON.stringify({ id: `chatcmpl-${turn}`, object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
  const usage = {
    prompt_tokens: TURN_TOKENS.input,
    completion_tokens: TURN_TOKENS.output,
    total_tokens: TURN_TOKENS.input + TURN_TOKENS.output,
  };
  return [
    chunk({ role: "assistant", content: text ?? null }),
    ...calls.map(({ name, input }, index) =>
      chunk({
        tool_calls: [
          {
            index,
            id: `call_${turn}_${index}`,
            type: "function",
            function: { name, arguments: inputOf(input) },
          },
        ],
      }),
    ),
    chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
    `data: ${JSON.stringify({ id: `chatcmpl-${turn}`, object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage })}\n\n`,
    "data: [DONE]\n\n",
  ];
}

function writeMessages({ text, calls = [] }: Said, turn: number): string[] {
  const event = (type: string, members: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const blocks = [
    ...(text === undefined
      ? []
      : [{ start: { type: "text", text: "" }, delta: { type: "text_delta", text } }]),
    ...calls.map(({ name, input }, index) => ({
      start: { type: "tool_use", id: `toolu_${turn}_${index}`, name, input: {} },
      delta: { type: "input_json_delta", partial_json: inputOf(input) },
    })),
  ];
  return [
    event("message_start", {
      message: {
        id: `msg_${turn}`,
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: TURN_TOKENS.input, output_tokens: 1 },
      },
    }),
    ...blocks.flatMap(({ start, delta }, index) => [
      event("content_block_start", { index, content_block: start }),
      event("content_block_delta", { index, delta }),
      event("content_block_stop", { index }),
    ]),
    event("message_delta", {
      delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { output_tokens: TURN_TOKENS.output },
    }),
    event("message_stop", {}),
  ];
}

function writeResponses({ text, calls = [] }: Said, turn: number): string[] {
  let sequence = 0;
  const event = (type: string, members: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...members })}\n\n`;
  const message = {
    type: "message",
    id: `msg_${turn}`,
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: text ?? "", annotations: [] }],
  };
  const items = [
    ...(text === undefined ? [] : [message]),
    ...calls.map(({ name, input }, index) => ({
      type: "function_call",
      id: `fc_${turn}_${index}`,
      call_id: `call_${turn}_${index}`,
      name,
      arguments: inputOf(input),
      status: "completed",
    })),
  ];
  const response = (status: string, output: object[]) => ({
    ...{ id: `resp_${turn}`, object: "response", created_at: 1, model: "m", status, output },
    ...(status === "completed" && {
      usage: {
        input_tokens: TURN_TOKENS.input,
        output_tokens: TURN_TOKENS.output,
        total_tokens: TURN_TOKENS.input + TURN_TOKENS.output,
      },
    }),
  });
  return [
    event("response.created", { response: response("in_progress", []) }),
    ...items.flatMap((item, at) => {
      const id = { output_index: at, item_id: item.id };
      const delta =
        item.type === "message"
          ? [
              event("response.content_part.added", {
                ...id,
                content_index: 0,
                part: { type: "output_text", text: "", annotations: [] },
              }),
              event("response.output_text.delta", { ...id, content_index: 0, delta: text }),
              event("response.output_text.done", { ...id, content_index: 0, text }),
            ]
          : [
              event("response.function_call_arguments.delta", {
                ...id,
                delta: (item as { arguments: string }).arguments,
              }),
            ];
      const empty = item.type === "message" ? { content: [] } : { arguments: "" };
      return [
        event("response.output_item.added", {
          output_index: at,
          item: { ...item, ...empty, status: "in_progress" },
        }),
        ...delta,
        event("response.output_item.done", { output_index: at, item }),
      ];
    }),
    event("response.completed", { response: response("completed", items) }),
  ];
}
