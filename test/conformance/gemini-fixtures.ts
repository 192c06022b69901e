/**
 * Exchanges of the Gemini format, made by hand in the form of recordings, that hold what its judges look at. Those that no
 * recording has say so in their names: `synthetic`.
 */
import type { Recording } from "../helpers/recordings.ts";

type Value = Record<string, unknown>;

interface Made {
  request?: Value;
  /** A list is a stream. */
  answer: Value | readonly Value[];
  model?: string;
  status?: number;
  framing?: "sse" | "json" | "json-array";
  source?: Recording["source"];
}

function made(
  id: string,
  { request = ASK, answer, model = MODEL, status = 200, framing, source }: Made,
): Recording {
  const records = Array.isArray(answer) ? (answer as readonly Value[]) : undefined;
  const form = framing ?? (records ? "sse" : "json");
  const events = records?.map((record) => `data: ${JSON.stringify(record)}\r\n\r\n`).join("");
  return {
    ...{ id: `gemini-${id}`, vendor: "gemini", api: "gemini", model, fidelity: "made", tags: [] },
    stream: records !== undefined,
    framing: form,
    source: source ?? { repo: "fixtures", path: `gemini-${id}`, index: 0, of: 1 },
    request: {
      method: "POST",
      path: `/v1beta/models/${model}:${form === "json" ? "generateContent" : "streamGenerateContent?alt=sse"}`,
      headers: {},
      body: request,
    },
    response: { status, headers: {}, body: form === "sse" ? events! : JSON.stringify(answer) },
  };
}

const MODEL = "gemini-3.1-pro-preview";
const ASK = { contents: [{ role: "user", parts: [{ text: "What is the weather in Oslo?" }] }] };

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const SIGNATURE = Buffer.from("a signature of the first call").toString("base64");
const LATE = Buffer.from("a signature behind the text").toString("base64");

const USAGE = {
  promptTokenCount: 500,
  toolUsePromptTokenCount: 300,
  cachedContentTokenCount: 100,
  candidatesTokenCount: 120,
  thoughtsTokenCount: 10,
  totalTokenCount: 930,
};

const answer = (parts: readonly Value[], finishReason: string | undefined, more: Value = {}): Value => ({
  candidates: [{ content: { role: "model", parts }, ...(finishReason && { finishReason }), index: 0 }],
  usageMetadata: USAGE,
  modelVersion: MODEL,
  responseId: "answer1",
  ...more,
});

const WEATHER = {
  name: "get_weather",
  description: "The weather of a city.",
  parameters: {
    type: "OBJECT",
    properties: {
      city: { type: "STRING", description: "Its name." },
      unit: { type: "STRING", enum: ["c", "f"], nullable: true },
    },
    required: ["city"],
  },
};

const OSLO = { functionCall: { name: "get_weather", args: { city: "Oslo" } } };
const LIMA = { functionCall: { name: "get_weather", args: { city: "Lima" } } };
const resultOf = (response: Value) => ({ functionResponse: { name: "get_weather", response } });

/** Parallel calls of which the first is signed, and their results; an image; a failed tool. */
const CONVERSATION = {
  systemInstruction: { parts: [{ text: "Answer in one sentence." }] },
  contents: [
    {
      role: "user",
      parts: [
        { text: "Compare the towns on this map." },
        { inlineData: { mimeType: "image/png", data: PNG } },
      ],
    },
    { role: "model", parts: [{ ...OSLO, thoughtSignature: SIGNATURE }, LIMA] },
    {
      role: "user",
      parts: [resultOf({ output: "Snow, -4 degrees." }), resultOf({ error: "No such city." })],
    },
    { role: "model", parts: [{ text: "Oslo is cold." }] },
    { role: "user", parts: [{ text: "And Bergen?" }] },
  ],
  tools: [{ functionDeclarations: [WEATHER] }],
  toolConfig: { functionCallingConfig: { mode: "ANY" } },
  generationConfig: { temperature: 0.4, topP: 0.3, maxOutputTokens: 300, stopSequences: ["END"] },
};

/** The spelling of Google's protocol buffers. */
const SNAKE = {
  system_instruction: { parts: [{ text: "Answer in one sentence." }] },
  contents: [
    { role: "user", parts: [{ text: "Look." }, { inline_data: { mime_type: "image/png", data: PNG } }] },
    {
      role: "model",
      parts: [
        { function_call: { name: "get_weather", args: { city: "Oslo" } }, thought_signature: SIGNATURE },
      ],
    },
    { role: "user", parts: [{ function_response: { name: "get_weather", response: { result: "Snow." } } }] },
  ],
  tools: [
    {
      function_declarations: [
        { name: "get_weather", description: "Weather.", parameters: WEATHER.parameters },
      ],
    },
  ],
  tool_config: { function_calling_config: { mode: "NONE" } },
  generation_config: { max_output_tokens: 200, stop_sequences: ["END", "STOP"] },
};

const STRUCTURED = {
  ...ASK,
  generationConfig: {
    responseMimeType: "application/json",
    responseJsonSchema: {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer" } },
      required: ["name", "age"],
    },
    thinkingConfig: { includeThoughts: true, thinkingLevel: "LOW" },
    maxOutputTokens: 4000,
  },
};

const FORCED = {
  ...ASK,
  tools: [{ functionDeclarations: [WEATHER] }],
  toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["get_weather"] } },
};

const THOUGHT = { text: "Two cities are asked for.", thought: true };
const yes = answer([{ text: "Yes." }], "STOP");

const callOf = (...functionCall: Value[]) =>
  functionCall.map((each) => answer([{ functionCall: each }], undefined));

const failure = (code: number, status: string, message: string, details: readonly Value[] = []) => ({
  error: { code, message, status, details },
});

export const GEMINI_FIXTURES: readonly Recording[] = [
  made("conversation", { request: CONVERSATION, answer: yes }),
  made("snake-case", { request: SNAKE, answer: yes }),
  made("schema", { request: STRUCTURED, answer: yes }),
  made("forced-tool", { request: FORCED, answer: yes }),
  made("calls", {
    request: CONVERSATION,
    answer: answer(
      [THOUGHT, { text: "I look it up." }, { ...OSLO, thoughtSignature: SIGNATURE }, LIMA],
      "STOP",
    ),
  }),
  made("stream", {
    answer: [
      answer([THOUGHT], undefined, { usageMetadata: { trafficType: "ON_DEMAND" } }),
      answer([{ text: "I look " }], undefined),
      answer([{ text: "it up." }], undefined),
      answer([{ text: "", thoughtSignature: LATE }], "STOP"),
    ],
  }),
  made("stream-of-calls", {
    answer: [
      answer([THOUGHT, { ...OSLO, thoughtSignature: SIGNATURE }], undefined),
      answer([LIMA], undefined),
      answer([], "STOP"),
    ],
  }),
  made("array", {
    framing: "json-array",
    answer: [answer([{ text: "It " }], undefined), answer([{ text: "snows." }], "STOP")],
  }),
  made("calls-in-pieces", {
    answer: [
      ...callOf(
        { name: "get_weather", willContinue: true },
        { partialArgs: [{ jsonPath: "$.city", stringValue: "Os", willContinue: true }], willContinue: true },
        { partialArgs: [{ jsonPath: "$.city", stringValue: "lo" }], willContinue: true },
        { partialArgs: [{ jsonPath: "$.days[0]", numberValue: 3 }], willContinue: true },
        {},
      ),
      answer([], "STOP"),
    ],
  }),
  made("length", { answer: answer([{ text: "The weather in" }], "MAX_TOKENS") }),
  made("synthetic-nothing-but-thoughts", { answer: answer([], "MAX_TOKENS") }),
  made("filtered", {
    answer: { candidates: [{ content: {}, finishReason: "SAFETY", index: 0 }], usageMetadata: USAGE },
  }),
  made("blocked-prompt", {
    answer: {
      promptFeedback: { blockReason: "MODEL_ARMOR", blockReasonMessage: "Blocked." },
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
    },
  }),
  made("synthetic-malformed-call", { answer: answer([], "MALFORMED_FUNCTION_CALL") }),
  made("synthetic-cut-stream", { answer: [answer([{ text: "It sn" }], undefined)] }),
  made("synthetic-error-in-stream", {
    answer: [answer([{ text: "It sn" }], undefined), failure(503, "UNAVAILABLE", "The model is overloaded.")],
  }),
  made("too-many-requests", {
    status: 429,
    answer: failure(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota. Please retry in 48.9s.", [
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "48.9s" },
    ]),
  }),
  made("bad-request", {
    status: 400,
    answer: failure(400, "INVALID_ARGUMENT", "The value of topK is too large."),
  }),
  ...[0, 1].map((index) =>
    made(`session-${index}`, {
      source: { repo: "fixtures", path: "gemini session", index, of: 2 },
      answer:
        index === 0
          ? answer([{ text: "I look it up." }, { ...OSLO, thoughtSignature: SIGNATURE }, LIMA], "STOP")
          : answer([{ text: "It snows there.", thoughtSignature: LATE }], "STOP"),
    }),
  ),
];
