/**
 * The job's provider in the formats of Google and Amazon, as strict as their hosts about the reasoning of earlier turns:
 * Gemini 3 refuses a call of the current turn whose step has no signature, and Claude refuses reasoning that is unsigned or
 * that changed.
 */
import type { JsonObject } from "../../../src/core/json.ts";
import { awsStream } from "../../helpers/aws-event-stream.ts";
import { type Answer, json, sse } from "../../helpers/upstream.ts";
import {
  declared,
  inPieces,
  type Language,
  list,
  object,
  REASONING,
  sealOf,
  textOf,
  type Turn,
} from "./language.ts";

export const CLOUD_LANGUAGES: Readonly<Record<string, Language>> = {
  gemini: {
    read(body, path) {
      const contents = list(body["contents"]);
      checkSignatures(contents);
      const parts = contents.flatMap(({ parts }) => list(parts));
      const tools = list(body["tools"]).flatMap(({ functionDeclarations }) => list(functionDeclarations));
      return {
        tools: tools.map(({ name, parameters, parametersJsonSchema }) =>
          declared(name, "function", parametersJsonSchema ?? parameters),
        ),
        results: parts.flatMap(({ functionResponse }) =>
          functionResponse === undefined ? [] : [textIn(object(object(functionResponse)["response"]))],
        ),
        reasoning: parts.flatMap(({ thoughtSignature }) =>
          thoughtSignature === undefined ? [] : [String(thoughtSignature)],
        ),
        stream: path.includes(":streamGenerateContent"),
      };
    },
    write(turn, stream) {
      const parts = geminiParts(turn, stream);
      const ending = {
        finishReason: "STOP",
        index: 0,
      };
      const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 7, totalTokenCount: 19 };
      const more = { modelVersion: "gemini-3-pro-preview", responseId: `turn_${turn.number}` };
      const chunk = (content: JsonObject[], end: object = {}) => ({
        candidates: [{ content: { role: "model", parts: content }, index: 0, ...end }],
        usageMetadata,
        ...more,
      });
      if (!stream) return json(chunk(parts, ending));
      // The signature of a text comes behind it, on an empty one.
      const { thoughtSignature, ...last } = parts.at(-1) ?? {};
      const isText = turn.calls.length === 0 && thoughtSignature !== undefined;
      const shown = isText ? [...parts.slice(0, -1), last] : parts;
      const end = { text: "", ...(isText && { thoughtSignature }) };
      const chunks = [...shown.map((part) => chunk([part])), chunk([end], ending)];
      return sse(chunks.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`));
    },
  },
  converse: {
    read(body, path) {
      const blocks = list(body["messages"]).flatMap(({ content }) => list(content));
      return {
        tools: list(object(body["toolConfig"])["tools"]).flatMap(({ toolSpec }) =>
          toolSpec === undefined
            ? []
            : [
                declared(
                  object(toolSpec)["name"],
                  "function",
                  object(object(toolSpec)["inputSchema"])["json"],
                ),
              ],
        ),
        results: blocks.flatMap(({ toolResult }) =>
          toolResult === undefined ? [] : [list(object(toolResult)["content"]).map(textIn).join("\n")],
        ),
        reasoning: blocks.flatMap(({ reasoningContent }) =>
          reasoningContent === undefined
            ? []
            : [signatureOf(object(object(reasoningContent)["reasoningText"]))],
        ),
        stream: path.endsWith("/converse-stream"),
      };
    },
    write(turn, stream) {
      const stopReason = turn.calls.length > 0 ? "tool_use" : "end_turn";
      const usage = { inputTokens: 12, outputTokens: 7, totalTokens: 19 };
      const metrics = { latencyMs: 1 };
      if (stream) return converseStream(turn, stopReason, { usage, metrics });
      const { number, reasoning, text, calls } = turn;
      const content = [
        { reasoningContent: { reasoningText: { text: reasoning, signature: sealOf(number) } } },
        ...(text === undefined ? [] : [{ text }]),
        ...calls.map(({ id, name, input }) => ({
          toolUse: { toolUseId: id, name, input: JSON.parse(input) as JsonObject },
        })),
      ];
      return json({ output: { message: { role: "assistant", content } }, stopReason, usage, metrics });
    },
  },
};

/** The first call of each step since the user last said something must have a signature. @throws Error in Google's words */
function checkSignatures(contents: readonly JsonObject[]): void {
  const isSaid = ({ role, parts }: JsonObject) =>
    role !== "model" && list(parts).some(({ text }) => text !== undefined);
  for (const { role, parts } of contents.slice(contents.findLastIndex(isSaid) + 1)) {
    if (role !== "model") continue;
    const call = list(parts).find(({ functionCall }) => functionCall !== undefined);
    if (call && call["thoughtSignature"] === undefined)
      throw new Error(
        `Function call is missing a thought_signature in functionCall parts: ${JSON.stringify(call["functionCall"])}`,
      );
  }
}

/** The signature is on the first call, or on the last text of a turn without calls. */
function geminiParts({ number, reasoning, text, calls }: Turn, stream: boolean): JsonObject[] {
  const pieces = (whole: string) => (stream ? inPieces(whole) : [whole]);
  const parts: JsonObject[] = [
    ...pieces(reasoning).map((piece) => ({ text: piece, thought: true })),
    ...pieces(text ?? "").flatMap((piece) => (piece === "" ? [] : [{ text: piece }])),
    ...calls.map(({ id, name, input }) => ({
      functionCall: { id, name, args: JSON.parse(input) as JsonObject },
    })),
  ];
  const signed = parts.find((part) => "functionCall" in part) ?? parts.at(-1);
  if (signed && number < 9) signed["thoughtSignature"] = sealOf(number);
  return parts;
}

/** @throws Error for reasoning that Claude did not sign, or that is not as Claude wrote it */
function signatureOf({ text, signature }: JsonObject): string {
  if (signature === undefined || signature === "")
    throw new Error("reasoningContent.reasoningText.signature: Field required");
  // A client may leave out the text; the signature holds it too.
  const isKnown = text === undefined || text === "" || REASONING.some((known) => known === text);
  if (!isKnown) throw new Error("reasoningContent blocks cannot be modified");
  return String(signature);
}

function converseStream(
  { number, reasoning, text, calls }: Turn,
  stopReason: string,
  metadata: object,
): Answer {
  const frames: { event: string; data: string }[] = [];
  const add = (event: string, data: object) => frames.push({ event, data: JSON.stringify(data) });
  let index = 0;
  const block = (start: object | undefined, deltas: readonly object[]) => {
    if (start) add("contentBlockStart", { contentBlockIndex: index, start });
    for (const delta of deltas) add("contentBlockDelta", { contentBlockIndex: index, delta });
    add("contentBlockStop", { contentBlockIndex: index++ });
  };
  add("messageStart", { role: "assistant" });
  block(undefined, [
    ...inPieces(reasoning).map((piece) => ({ reasoningContent: { text: piece } })),
    { reasoningContent: { signature: sealOf(number) } },
  ]);
  if (text !== undefined)
    block(
      undefined,
      inPieces(text).map((piece) => ({ text: piece })),
    );
  for (const { id, name, input } of calls)
    block(
      { toolUse: { toolUseId: id, name } },
      inPieces(input).map((piece) => ({ toolUse: { input: piece } })),
    );
  add("messageStop", { stopReason });
  add("metadata", metadata);
  const headers = { "content-type": "application/vnd.amazon.eventstream" };
  return { headers, body: [awsStream(frames)], framing: "chunked" };
}

/** The text of a result: its own, or the members of an object. */
function textIn(result: JsonObject): string {
  const { text, output, json: value } = result;
  if (typeof text === "string") return text;
  if (typeof output === "string") return output;
  return value === undefined ? Object.values(result).map(textOf).join("\n") : JSON.stringify(value);
}
