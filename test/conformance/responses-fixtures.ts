/** Exchanges of the Responses format, made by hand in the form of recordings, that hold what its judges look at. */
import type { Recording } from "../helpers/recordings.ts";

type Value = Record<string, unknown>;

function made(id: string, request: Value, answer: Value | readonly Value[]): Recording {
  const events = Array.isArray(answer) ? (answer as readonly Value[]) : undefined;
  const body = events
    ? events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("")
    : JSON.stringify(answer);
  return {
    id,
    vendor: "openai",
    api: "responses",
    model: "gpt-4.1",
    stream: events !== undefined,
    framing: events ? "sse" : "json",
    fidelity: "made",
    tags: [],
    source: { repo: "fixtures", path: id, index: 0, of: 1 },
    request: {
      method: "POST",
      path: "/v1/responses",
      headers: {},
      body: { model: "gpt-4.1", stream: events !== undefined, ...request },
    },
    response: { status: 200, headers: {}, body },
  };
}

const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const PERSON = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
  additionalProperties: false,
};

const USAGE = {
  input_tokens: 40,
  input_tokens_details: { cached_tokens: 16 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 49,
};

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Both towns are mild.", annotations: [], logprobs: [] }],
};

const CALL = {
  id: "fc_1",
  type: "function_call",
  status: "completed",
  call_id: "call_9",
  name: "get_weather",
  arguments: '{"city":"Bergen"}',
};

const response = (output: readonly Value[], rest: Value = {}) => ({
  id: "resp_1",
  object: "response",
  created_at: 1_700_000_000,
  status: "completed",
  model: "gpt-4.1-2025-04-14",
  output,
  error: null,
  incomplete_details: null,
  usage: USAGE,
  ...rest,
});

/** A conversation with instructions, an image, parallel calls and their results. */
const CONVERSATION = {
  instructions: "Answer in one sentence.",
  input: [
    {
      role: "user",
      content: [
        { type: "input_text", text: "Compare the towns on this map." },
        { type: "input_image", image_url: PNG, detail: "low" },
      ],
    },
    { type: "function_call", call_id: "call_1", name: "get_weather", arguments: '{"city":"Oslo"}' },
    { type: "function_call", call_id: "call_2", name: "get_weather", arguments: '{"city":"Lima"}' },
    { type: "function_call_output", call_id: "call_1", output: "4 degrees" },
    { type: "function_call_output", call_id: "call_2", output: "19 degrees" },
    { role: "assistant", content: [{ type: "output_text", text: "Lima is warmer." }] },
    { role: "user", content: "And Bergen?" },
  ],
  tools: [
    {
      type: "function",
      name: "get_weather",
      description: "The weather of a city.",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      strict: false,
    },
  ],
  tool_choice: "required",
  parallel_tool_calls: false,
  max_output_tokens: 500,
  temperature: 0.5,
};

const STRUCTURED = {
  input: "Invent a person.",
  max_output_tokens: 400,
  reasoning: { effort: "low" },
  text: { format: { type: "json_schema", name: "person", schema: PERSON, strict: true } },
};

export const RESPONSES_FIXTURES: readonly Recording[] = [
  made("responses-json", CONVERSATION, response([MESSAGE, CALL])),
  made("responses-schema", STRUCTURED, response([MESSAGE])),
  made("responses-stream", CONVERSATION, [
    { type: "response.created", sequence_number: 0, response: response([], { status: "in_progress" }) },
    {
      type: "response.output_item.added",
      sequence_number: 1,
      output_index: 0,
      item: { ...MESSAGE, status: "in_progress", content: [] },
    },
    {
      type: "response.content_part.added",
      sequence_number: 2,
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      part: { type: "output_text", text: "", annotations: [], logprobs: [] },
    },
    ...["Both towns ", "are mild."].map((delta, index) => ({
      type: "response.output_text.delta",
      sequence_number: 3 + index,
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta,
      logprobs: [],
    })),
    { type: "response.output_item.done", sequence_number: 5, output_index: 0, item: MESSAGE },
    {
      type: "response.output_item.added",
      sequence_number: 6,
      output_index: 1,
      item: { ...CALL, status: "in_progress", arguments: "" },
    },
    {
      type: "response.function_call_arguments.delta",
      sequence_number: 7,
      item_id: "fc_1",
      output_index: 1,
      delta: CALL.arguments,
    },
    { type: "response.output_item.done", sequence_number: 8, output_index: 1, item: CALL },
    { type: "response.completed", sequence_number: 9, response: response([MESSAGE, CALL]) },
  ]),
];
