/**
 * Calls with values that a guard must keep in: providers that say the prompt back, cut into pieces of a size that it names, and a
 * request of each client format that has values in all of its texts.
 */
import { expect } from "bun:test";
import type { ChatEvent } from "../../src/core/events.ts";
import { NO_USAGE } from "../../src/core/events.ts";
import type { ClientCodec } from "../../src/core/format.ts";
import { isObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { geminiFormat } from "../../src/formats/gemini/index.ts";
import { messagesFormat } from "../../src/formats/messages/index.ts";
import { responsesFormat } from "../../src/formats/responses/index.ts";
import { writeFrame } from "../../src/stream/sse.ts";
import { writeAll } from "./answer-codecs.ts";
import { makeContext } from "./codec-context.ts";
import { json, sse, type UpstreamRequest } from "./upstream.ts";

export const EMAIL = "anna@example.com";
export const CARD = "4111 1111 1111 1111";
/** JSON needs escapes for it. */
export const SECRET = 'ke"y\\9f';
/** Also begins like tokens, and holds what is none. */
export const SAID = `SAY PII_ ${EMAIL}${CARD}, PII_EMAIL_zh5 and ${SECRET}, PII_KEY_3hink6v`;
export const SIZES = [1, 2, 3, 5, 7, 11, 200];

export const escape = (text: string) => JSON.stringify(text).slice(1, -1);
export const FORMS = [EMAIL, CARD, SECRET].flatMap((value) => [value, escape(value), escape(escape(value))]);

/** The values that a text holds, in any spelling. */
export const leaksIn = (text: string) => FORMS.filter((form) => text.includes(form));

/** The string in a request that the provider says back. */
function promptIn(value: Json | undefined): string | undefined {
  if (typeof value === "string") return /SAY [^]*$/.exec(value)?.[0];
  if (typeof value !== "object" || value === null) return undefined;
  for (const inner of Object.values(value).toReversed()) {
    const found = promptIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

const piecesOf = (text: string, size: number) =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));

/** A text, and a tool call if the request has tools. */
function answerTo(prompt: string, hasTools: boolean, size: number): ChatEvent[] {
  const block = (index: number, start: ChatEvent & { type: "block-start" }, text: string): ChatEvent[] => [
    start,
    ...piecesOf(text, size).map((delta): ChatEvent => ({ type: "block-delta", index, delta })),
    { type: "block-end", index },
  ];
  const call = { type: "tool-call", id: "call_1", name: "send", kind: "function" } as const;
  return [
    { type: "message-start", id: "a_1", model: "m" },
    ...block(0, { type: "block-start", index: 0, block: { type: "text" } }, prompt),
    ...(hasTools
      ? block(1, { type: "block-start", index: 1, block: call }, JSON.stringify({ to: prompt }))
      : []),
    {
      type: "message-end",
      reason: { kind: hasTools ? "tool-calls" : "stop" },
      usage: { ...NO_USAGE, input: 5, output: 5 },
    },
  ];
}

export const SPOKEN: Readonly<Record<string, ClientCodec>> = {
  "chat-completions": chatCompletionsFormat.client,
  messages: messagesFormat.client,
  responses: responsesFormat.client,
  gemini: geminiFormat.client,
};

/** A provider of a format, which writes its answers as weir writes them for clients. */
export function provide({ codec }: ClientCodec, { body, path }: UpstreamRequest) {
  const request = JSON.parse(body.toString()) as JsonObject;
  const prompt = promptIn(request)!;
  const size = Number(/of (\d+)/.exec(prompt)![1]);
  const events = answerTo(prompt, request.tools !== undefined, size);
  const context = makeContext();
  if (request.stream !== true && !path.includes("stream")) return json(codec.writeAnswer(events, context));
  // Each event comes with a read of its own.
  return sse(
    writeAll(codec.writeStream(context), events).flatMap((frame) => [writeFrame(frame), { wait: 0 }]),
  );
}

interface Api {
  path(model: string, stream: boolean): string;
  body(model: string, stream: boolean, prompt: string): JsonObject;
  /** The text, and the arguments of the call as a value. @param events one answer, or those of a stream */
  read(events: readonly JsonObject[]): { text: string; args: Json | undefined };
}

const PARAMETERS = { type: "object", properties: { to: { type: "string", description: `not ${EMAIL}` } } };
const FUNCTION = { name: "send", description: `Sends as ${EMAIL}.`, parameters: PARAMETERS };
export const ARGS = { to: EMAIL, key: SECRET };
export const SYSTEM = `Pay with ${CARD}.`;
export const RESULT = `Sent with ${SECRET} to ${EMAIL}.`;

/** Chat messages with a tool call and its result. */
const chatTurns = (prompt: string, args: Json): JsonObject[] => [
  { role: "system", content: SYSTEM },
  { role: "user", content: "Hello" },
  {
    role: "assistant",
    content: "",
    tool_calls: [{ id: "call_0", type: "function", function: { name: "send", arguments: args } }],
  },
  { role: "tool", tool_call_id: "call_0", tool_name: "send", content: RESULT },
  { role: "user", content: prompt },
];

/** All values at a path with `*` for each item. */
export function at(value: Json | undefined, path: string): Json[] {
  const found = path.split(".").reduce<(Json | undefined)[]>(
    (values, name) =>
      values.flatMap((one) => {
        if (name === "*") return Array.isArray(one) ? one : [];
        return isObject(one) ? [one[name]] : [];
      }),
    [value],
  );
  return found.filter((one) => one !== undefined);
}

export const joined = (events: readonly JsonObject[], ...paths: string[]) =>
  events
    .flatMap((event) => paths.flatMap((path) => at(event, path)))
    .filter((one) => typeof one === "string")
    .join("");

export const parsed = (text: string) => (text === "" ? undefined : (JSON.parse(text) as Json));

const CALL = "tool_calls.*.function.arguments";

export const APIS: Readonly<Record<string, Api>> = {
  "chat-completions": {
    path: () => "/v1/chat/completions",
    body: (model, stream, prompt) => ({
      ...{ model, stream, messages: chatTurns(prompt, JSON.stringify(ARGS)) },
      ...{ tools: [{ type: "function", function: FUNCTION }], user: EMAIL },
    }),
    read: (events) => ({
      text: joined(events, "choices.*.delta.content", "choices.*.message.content"),
      args: parsed(joined(events, `choices.*.delta.${CALL}`, `choices.*.message.${CALL}`)),
    }),
  },
  messages: {
    path: () => "/v1/messages",
    body: (model, stream, prompt) => ({
      ...{ model, stream, max_tokens: 500, system: SYSTEM, metadata: { user_id: EMAIL } },
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_0", name: "send", input: ARGS }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_0", content: [{ type: "text", text: RESULT }] },
            { type: "text", text: prompt },
          ],
        },
      ],
      tools: [{ name: "send", description: FUNCTION.description, input_schema: PARAMETERS }],
    }),
    read: (events) => ({
      text: joined(events, "delta.text", "content.*.text"),
      args: parsed(joined(events, "delta.partial_json")) ?? at(events[0], "content.*.input")[0],
    }),
  },
  responses: {
    path: () => "/v1/responses",
    body: (model, stream, prompt) => ({
      ...{ model, stream, instructions: SYSTEM, user: EMAIL },
      input: [
        { role: "user", content: "Hello" },
        { type: "function_call", call_id: "call_0", name: "send", arguments: JSON.stringify(ARGS) },
        { type: "function_call_output", call_id: "call_0", output: RESULT },
        { role: "user", content: [{ type: "input_text", text: prompt }] },
      ],
      tools: [{ type: "function", ...FUNCTION, strict: false }],
    }),
    read: (events) => {
      const typed = (type: string) => events.filter((event) => event.type === type);
      const text = joined(typed("response.output_text.delta"), "delta");
      const args = joined(typed("response.function_call_arguments.delta"), "delta");
      // What a stream says at its end is the same as its pieces.
      for (const event of typed("response.completed")) {
        expect(joined([event], "response.output.*.content.*.text")).toBe(text);
        expect(joined([event], "response.output.*.arguments")).toBe(args);
      }
      return {
        text: text + joined(events, "output.*.content.*.text"),
        args: parsed(args + joined(events, "output.*.arguments")),
      };
    },
  },
  gemini: {
    path: (model, stream) =>
      `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: (_model, _stream, prompt) => ({
      system_instruction: { parts: [{ text: SYSTEM }] },
      contents: [
        { role: "user", parts: [{ text: "Hello" }] },
        { role: "model", parts: [{ functionCall: { name: "send", args: ARGS } }] },
        { role: "user", parts: [{ functionResponse: { name: "send", response: { output: RESULT } } }] },
        { role: "user", parts: [{ text: prompt }] },
      ],
      tools: [{ functionDeclarations: [FUNCTION] }],
    }),
    read: (events) => ({
      text: joined(events, "candidates.*.content.parts.*.text"),
      args: events.flatMap((event) => at(event, "candidates.*.content.parts.*.functionCall.args"))[0],
    }),
  },
  ollama: {
    path: () => "/api/chat",
    body: (model, stream, prompt) => ({
      ...{ model, stream, messages: chatTurns(prompt, ARGS) },
      tools: [{ type: "function", function: FUNCTION }],
    }),
    read: (events) => ({
      text: joined(events, "message.content"),
      args: events.flatMap((event) => at(event, `message.${CALL}`))[0],
    }),
  },
  "ollama-generate": {
    path: () => "/api/generate",
    body: (model, stream, prompt) => ({ model, stream, prompt, system: SYSTEM }),
    read: (events) => ({ text: joined(events, "response"), args: undefined }),
  },
};

/** The events of an answer in any framing; one for an answer that is no stream. */
export function eventsIn(text: string): JsonObject[] {
  const lines = text.startsWith("{")
    ? text.split("\n")
    : [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data!);
  return lines.filter((line) => line.trim().startsWith("{")).map((line) => JSON.parse(line) as JsonObject);
}

export const LANES = Object.keys(APIS).flatMap((format) => {
  const other = format === "chat-completions" ? "messages" : "chat-completions";
  return format in SPOKEN
    ? [[format, format] as const, [format, other] as const]
    : [[format, other] as const];
});
