/**
 * Exchanges made by hand, in the form of recordings, that hold what the judges look at. With them the replay and its planted
 * faults run where no recordings are.
 */
import type { Recording } from "../helpers/recordings.ts";
import type { Api } from "./policy.ts";

type Value = Record<string, unknown>;

interface Made {
  api: Api;
  vendor?: string;
  model: string;
  request: Value;
  answer: Value | readonly Value[];
  status?: number;
  headers?: Record<string, string>;
  source?: Recording["source"];
}

let count = 0;

function made({ api, vendor, model, request, answer, status = 200, headers = {}, source }: Made): Recording {
  const id = `made${++count}`;
  const events = Array.isArray(answer) ? (answer as readonly Value[]) : undefined;
  const path = api === "chat" ? "/v1/chat/completions" : "/v1/messages";
  return {
    id,
    vendor: vendor ?? (api === "chat" ? "openai" : "anthropic"),
    api,
    model,
    stream: events !== undefined,
    framing: events ? "sse" : "json",
    fidelity: "made",
    tags: [],
    source: source ?? { repo: "fixtures", path: id, index: 0, of: 1 },
    request: { method: "POST", path, headers: {}, body: { model, stream: events !== undefined, ...request } },
    response: { status, headers, body: events ? WRITE[api](events) : JSON.stringify(answer) },
  };
}

const WRITE: Record<Api, (events: readonly Value[]) => string> = {
  chat: (chunks) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("") + "data: [DONE]\n\n",
  messages: (events) =>
    events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
};

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = Buffer.from("%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n%%EOF\n").toString(
  "base64",
);

const WEATHER = {
  type: "object",
  properties: {
    city: { type: "string", description: "Its name." },
    unit: { type: "string", enum: ["c", "f"] },
  },
  required: ["city"],
};
const PERSON = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
  additionalProperties: false,
};

/* Chat clients. */

const chatTool = {
  type: "function",
  function: { name: "weather", description: "Tells the weather of a city.", parameters: WEATHER },
};

const chatHistory = [
  { role: "system", content: "Answer in one sentence." },
  {
    role: "user",
    content: [
      { type: "text", text: "Where was this taken, and what does the paper say?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
      { type: "file", file: { filename: "paper.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
    ],
  },
  {
    role: "assistant",
    content: "I look at both.",
    tool_calls: [
      { id: "call_a1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } },
      { id: "call_b2", type: "function", function: { name: "weather", arguments: '{"city":"Lima"}' } },
    ],
  },
  { role: "tool", tool_call_id: "call_a1", content: "Snow, -4 degrees." },
  { role: "tool", tool_call_id: "call_b2", content: "Mist, 17 degrees." },
  { role: "user", content: "Compare the two." },
];

const ask = { messages: [{ role: "user", content: "What is the weather in Oslo?" }] };

const completion = (message: Value, finish: string, id: string, more: Value = {}): Value => ({
  id,
  object: "chat.completion",
  created: 1_790_000_000,
  model: "gpt-4.1",
  choices: [
    {
      index: 0,
      message: { role: "assistant", refusal: null, ...message },
      finish_reason: finish,
      logprobs: null,
    },
  ],
  usage: { prompt_tokens: 31, completion_tokens: 12, total_tokens: 43 },
  ...more,
});

/** The chunks of a stream out of its deltas. */
function chunks(deltas: readonly Value[], finish: string, id: string, usage: Value): Value[] {
  const head = { id, object: "chat.completion.chunk", created: 1_790_000_000, model: "gpt-4.1" };
  const chunk = (delta: Value, reason: string | null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  return [
    chunk({ role: "assistant", content: "" }, null),
    ...deltas.map((delta) => chunk(delta, null)),
    chunk({}, finish),
    { ...head, choices: [], usage },
  ];
}

const yes = completion({ content: "Yes." }, "stop", "chatcmpl-plain01");

const chatRequests: readonly Value[] = [
  { messages: chatHistory, tools: [chatTool], max_tokens: 300 },
  { ...ask, tools: [chatTool], tool_choice: "required", parallel_tool_calls: false, temperature: 0.4 },
  { ...ask, tools: [chatTool], tool_choice: "none", top_p: 0.3, stop: ["END", "STOP"] },
  {
    ...ask,
    tools: [chatTool],
    tool_choice: { type: "function", function: { name: "weather" } },
    user: "user_4711",
  },
  { ...ask, reasoning_effort: "low", max_completion_tokens: 9000 },
  {
    ...ask,
    response_format: { type: "json_schema", json_schema: { name: "person", schema: PERSON, strict: true } },
  },
];

/* Messages clients. */

const claudeTool = { name: "weather", description: "Tells the weather of a city.", input_schema: WEATHER };

const claudeHistory = [
  {
    role: "user",
    content: [
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      { type: "text", text: "Where was this taken?" },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "text", text: "I ask for the weather of both." },
      { type: "tool_use", id: "toolu_a1", name: "weather", input: { city: "Oslo" } },
      { type: "tool_use", id: "toolu_b2", name: "weather", input: { city: "Lima" } },
    ],
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "toolu_a1", content: "Snow, -4 degrees." },
      { type: "tool_result", tool_use_id: "toolu_b2", content: "No such city.", is_error: true },
      { type: "text", text: "Compare the two." },
    ],
  },
];

const claudeAsk = { max_tokens: 400, messages: [{ role: "user", content: "What is the weather in Oslo?" }] };

const message = (content: readonly Value[], stop: string, id: string, more: Value = {}): Value => ({
  id,
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5",
  content,
  stop_reason: stop,
  stop_sequence: null,
  stop_details: null,
  container: null,
  usage: {
    input_tokens: 20,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 7,
    output_tokens: 15,
    output_tokens_details: { thinking_tokens: 6 },
    cache_creation: null,
    service_tier: "standard",
  },
  ...more,
});

/** The events of a stream out of a whole message. */
function eventsOf(whole: Value): Value[] {
  const usage = whole["usage"] as Value;
  const blocks = (whole["content"] as Value[]).flatMap((block, index) => {
    const { start, deltas } = PIECES[String(block["type"])]!(block);
    return [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
  });
  const { stop_reason, stop_sequence, stop_details } = whole;
  return [
    {
      type: "message_start",
      message: { ...whole, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    },
    ...blocks,
    { type: "message_delta", delta: { stop_reason, stop_sequence, stop_details, container: null }, usage },
    { type: "message_stop" },
  ];
}

const PIECES: Record<string, (block: Value) => { start: Value; deltas: Value[] }> = {
  text: ({ text, citations }) => ({
    start: { type: "text", text: "" },
    deltas: [
      { type: "text_delta", text },
      ...((citations as Value[] | undefined) ?? []).map((citation) => ({
        type: "citations_delta",
        citation,
      })),
    ],
  }),
  thinking: ({ thinking, signature }) => ({
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature },
    ],
  }),
  tool_use: ({ input, ...block }) => {
    const json = JSON.stringify(input);
    const half = Math.ceil(json.length / 2);
    return {
      start: { ...block, input: {} },
      deltas: [json.slice(0, half), json.slice(half)].map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      })),
    };
  },
};

const ok = message([{ type: "text", text: "Yes." }], "end_turn", "msg_plain01");

const claudeRequests: readonly Value[] = [
  { system: "Answer in one sentence.", max_tokens: 300, messages: claudeHistory, tools: [claudeTool] },
  {
    ...claudeAsk,
    tools: [claudeTool],
    tool_choice: { type: "any", disable_parallel_tool_use: true },
    temperature: 0.4,
  },
  {
    ...claudeAsk,
    tools: [claudeTool],
    tool_choice: { type: "none" },
    top_p: 0.3,
    stop_sequences: ["END"],
    metadata: { user_id: "user_4711" },
  },
  { ...claudeAsk, max_tokens: 9000, thinking: { type: "enabled", budget_tokens: 4000 } },
  { ...claudeAsk, output_config: { effort: "low" } },
  { ...claudeAsk, output_config: { format: { type: "json_schema", schema: PERSON } } },
];

/* Answers. */

const reasoningUsage = {
  prompt_tokens: 40,
  completion_tokens: 25,
  total_tokens: 65,
  prompt_tokens_details: { cached_tokens: 16 },
  completion_tokens_details: { reasoning_tokens: 9 },
};

const twoCalls = (arguments_: readonly string[]) =>
  arguments_.flatMap((text, index) => [
    {
      tool_calls: [
        { index, id: `call_s${index}`, type: "function", function: { name: "weather", arguments: "" } },
      ],
    },
    { tool_calls: [{ index, function: { arguments: text } }] },
  ]);

const claudeSpeech: readonly Value[] = [
  { type: "thinking", thinking: "Two cities are asked for.", signature: "c2lnbmF0dXJl" },
  {
    type: "text",
    text: "I look it up.",
    citations: [
      {
        type: "web_search_result_location",
        url: "https://example.com/oslo",
        title: "Oslo",
        cited_text: "Snow.",
        encrypted_index: "e1",
      },
    ],
  },
  { type: "tool_use", id: "toolu_s0", name: "weather", input: { city: "Oslo" } },
  { type: "tool_use", id: "toolu_s1", name: "weather", input: { city: "Lima" } },
];

const limits = { "anthropic-ratelimit-requests-remaining": "41", "request-id": "req_made" };

const session = (path: string, index: number) => ({ repo: "fixtures", path, index, of: 2 });

export const FIXTURES: readonly Recording[] = [
  ...chatRequests.map((request) => made({ api: "chat", model: "gpt-4.1", request, answer: yes })),
  ...claudeRequests.map((request) =>
    made({ api: "messages", model: "claude-sonnet-4-5", request, answer: ok, headers: limits }),
  ),
  made({
    api: "chat",
    vendor: "mistral",
    model: "mistral-large-latest",
    request: { ...ask, user: "user_4711", seed: 7 },
    answer: yes,
  }),
  made({
    api: "chat",
    model: "gpt-5.2",
    request: ask,
    answer: chunks(
      [{ reasoning_content: "Two cities." }, { content: "I look " }, { content: "it up." }],
      "stop",
      "chatcmpl-stream01",
      reasoningUsage,
    ),
  }),
  made({
    api: "chat",
    model: "gpt-5.2",
    request: { ...ask, tools: [chatTool] },
    answer: chunks(
      [{ reasoning_content: "Two cities." }, ...twoCalls(['{"city":"Oslo"}', '{"city":"Lima"}'])],
      "tool_calls",
      "chatcmpl-stream02",
      reasoningUsage,
    ),
  }),
  made({
    api: "chat",
    model: "gpt-4.1",
    request: ask,
    answer: completion({ content: "The weather in" }, "length", "chatcmpl-plain02", {
      usage: reasoningUsage,
    }),
  }),
  made({
    api: "chat",
    model: "gpt-4.1",
    request: ask,
    status: 400,
    answer: {
      error: {
        message: "The value of n is too large.",
        type: "invalid_request_error",
        param: "n",
        code: null,
      },
    },
  }),
  made({
    api: "messages",
    model: "claude-sonnet-4-5",
    request: claudeAsk,
    answer: eventsOf(message(claudeSpeech, "tool_use", "msg_stream01")),
    headers: limits,
  }),
  made({
    api: "messages",
    model: "claude-sonnet-4-5",
    request: claudeAsk,
    answer: message(claudeSpeech, "tool_use", "msg_plain02"),
    headers: limits,
  }),
  made({
    api: "messages",
    model: "claude-sonnet-4-5",
    request: claudeAsk,
    status: 400,
    answer: {
      type: "error",
      error: { type: "invalid_request_error", message: "The value of top_k is too large." },
      request_id: "req_made",
    },
  }),
  ...[0, 1].map((index) =>
    made({
      api: "chat",
      model: "gpt-4.1",
      request: ask,
      source: session("chat session", index),
      answer: completion(
        {
          content: index === 0 ? "I look it up." : "It snows there.",
          ...(index === 0 && {
            tool_calls: [
              {
                id: "call_t1",
                type: "function",
                function: { name: "weather", arguments: '{"city":"Oslo"}' },
              },
            ],
          }),
        },
        index === 0 ? "tool_calls" : "stop",
        `chatcmpl-session0${index}`,
      ),
    }),
  ),
  ...[0, 1].map((index) =>
    made({
      api: "messages",
      model: "claude-sonnet-4-5",
      request: claudeAsk,
      source: session("messages session", index),
      answer: message(
        // Without calls: by their ids weir would remember the reasoning itself.
        index === 0 ? claudeSpeech.slice(0, 2) : [{ type: "text", text: "It snows there." }],
        "end_turn",
        `msg_session0${index}`,
      ),
    }),
  ),
];
