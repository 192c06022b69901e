/**
 * Thought signatures on their way through clients of every format: an answer of Google's is written for the client, which sends
 * it back unchanged, and must reach Google with each signature at its place.
 */
import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/core/chat.ts";
import type { ClientCodec } from "../../../src/core/format.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { geminiFormat } from "../../../src/formats/gemini/index.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";
import { responsesFormat } from "../../../src/formats/responses/index.ts";
import { writeAll } from "../../helpers/answer-codecs.ts";
import { answerContext, PLAIN, readRecords, record, upstream } from "./make.ts";

const A = "c2lnbmF0dXJlLUE=";
const B = "c2lnbmF0dXJlLUI=";

const text = (value: string, thoughtSignature?: string): JsonObject => ({
  text: value,
  ...(thoughtSignature && { thoughtSignature }),
});
const call = (name: string, thoughtSignature?: string): JsonObject => ({
  functionCall: { name, args: { of: name } },
  ...(thoughtSignature && { thoughtSignature }),
});
const thought = (value: string): JsonObject => ({ text: value, thought: true });
const code: JsonObject = { executableCode: { language: "PYTHON", code: "print(1)" }, thoughtSignature: A };
const output: JsonObject = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } };

const ANSWERS: [string, JsonObject[]][] = [
  ["a signed call", [call("f", A)]],
  ["parallel calls, the first one signed", [call("f", A), call("g"), call("h")]],
  ["thoughts and a signed call", [thought("I ask."), call("f", A)]],
  ["a text and a signed call", [text("I ask."), call("f", A)]],
  ["a signed text", [text("Hi.", A)]],
  ["thoughts and a signed text", [thought("Greet."), text("Hi.", A)]],
  ["a signature on a last, empty part", [text("Hi."), text("", A)]],
  ["signed text and a signed call", [text("I ask.", A), call("f", B)]],
  ["signed code and its output", [code, output, text("1.")]],
];

interface Client {
  codec: ClientCodec;
  /** The next request, with the answer as it came. */
  next(answer: JsonObject): JsonObject;
}

const object = (value: Json | undefined) => value as JsonObject;
const objects = (value: Json | undefined) => value as JsonObject[];

const CLIENTS: Record<string, Client> = {
  "chat-completions": {
    codec: chatCompletionsFormat.client,
    next(answer) {
      const message = object(objects(answer.choices)[0]!.message);
      const calls = objects(message.tool_calls ?? []);
      const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "ok" }));
      return { messages: [{ role: "user", content: "q" }, message, ...results] };
    },
  },
  messages: {
    codec: messagesFormat.client,
    next({ content }) {
      const calls = objects(content).filter(({ type }) => type === "tool_use");
      const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "ok" }));
      return {
        max_tokens: 10,
        messages: [
          { role: "user", content: "q" },
          { role: "assistant", content },
          { role: "user", content: [...results, { type: "text", text: "Next." }] },
        ],
      };
    },
  },
  responses: {
    codec: responsesFormat.client,
    next({ output: items }) {
      const calls = objects(items).filter(({ type }) => type === "function_call");
      const results = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "ok" }));
      return { input: [{ role: "user", content: "q" }, ...objects(items), ...results] };
    },
  },
  gemini: {
    codec: geminiFormat.client,
    next(answer) {
      const content = object(objects(answer.candidates)[0]!.content);
      const calls = objects(content.parts).flatMap((part) =>
        part.functionCall ? [object(part.functionCall)] : [],
      );
      const parts = calls.map(({ id, name }) => ({
        functionResponse: { id, name, response: { output: "ok" } },
      }));
      return {
        contents: [
          { role: "user", parts: [{ text: "q" }] },
          content,
          ...(parts.length > 0 ? [{ role: "user", parts }] : []),
        ],
        generationConfig: { thinkingConfig: { includeThoughts: true } },
      };
    },
  },
};

/** The parts of the model that Google gets in the next request. */
function again({ codec, next }: Client, parts: readonly JsonObject[], stream: boolean): JsonObject[] {
  const sameFormat = codec === geminiFormat.client;
  const style = {
    style: { includeUsage: true },
    tools: ["f", "g", "h"].map((name) => ({ kind: "function" as const, name })),
  };
  const context = () => answerContext({ sameFormat, request: { ...PLAIN, ...style } });
  const records = stream
    ? parts.map((part, at) => record([part], at === parts.length - 1 ? "STOP" : undefined))
    : [record(parts, "STOP")];
  const events = readRecords(records, context());
  // Writing the stream must not fail either.
  expect(writeAll(codec.codec.writeStream(context()), events).length).toBeGreaterThan(0);
  const body = { model: "m", ...next(codec.codec.writeAnswer(events, context())) };
  const check: (body: Json) => void = codec.request.checkRequest;
  check(body);
  const request: ChatRequest = codec.codec.decodeRequest(body, answerContext({ sameFormat }));
  const { contents } = upstream.codec.encodeRequest(request, answerContext({ sameFormat, request }));
  return objects(contents)
    .filter(({ role }) => role === "model")
    .flatMap(({ parts: sent }) => objects(sent))
    .map((part) => {
      if (!part.functionCall) return part;
      const { id: _id, ...rest } = object(part.functionCall);
      return { ...part, functionCall: rest };
    });
}

/** What comes back where a format cannot hold the place of a signature that Google does not ask for. */
const ELSEWHERE: Record<string, Record<string, JsonObject[]>> = {
  "a signature on a last, empty part": {
    // A message has one text, and no order.
    "chat-completions": [text("Hi.", A)],
    // Programs take the last block of a message for the answer.
    messages: [text("Hi.")],
  },
};

for (const [format, client] of Object.entries(CLIENTS))
  describe(`through a ${format} client`, () => {
    for (const [name, parts] of ANSWERS)
      test(`${name} comes back`, () => {
        const expected = ELSEWHERE[name]?.[format] ?? parts;
        expect(again(client, parts, false)).toEqual(expected);
        expect(again(client, parts, true)).toEqual(expected);
      });
  });
