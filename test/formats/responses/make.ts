/** Calls, events and answers for the tests of this format. */
import type { ChatRequest, Tool } from "../../../src/core/chat.ts";
import type { ChatEvent, FinishReason, Usage } from "../../../src/core/events.ts";
import type { Frame } from "../../../src/core/frame.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { responsesFormat } from "../../../src/formats/responses/index.ts";
import { writeAll } from "../../helpers/answer-codecs.ts";
import { type ContextOptions, lossesOf, makeContext, type TestContext } from "../../helpers/codec-context.ts";

export const { client } = responsesFormat;

export const USAGE: Usage = { input: 7, cacheRead: 5, cacheWrite: 2, output: 9, reasoning: 4 };

/** A canonical request with these tools, for answers. */
export function requestWith(tools: readonly JsonObject[] = [], more: JsonObject = {}): ChatRequest {
  return client.codec.decodeRequest({ model: "m", input: "hi", tools: [...tools], ...more }, makeContext());
}

export function answerContext(
  request: ChatRequest = requestWith(),
  options: ContextOptions = {},
): TestContext {
  return makeContext({ provider: "deepseek", model: "deepseek-chat", ...options, request });
}

/** An answer of these blocks, one after the other. */
export function answerOf(
  blocks: readonly (readonly [
    start: (ChatEvent & { type: "block-start" })["block"],
    pieces: readonly (string | [string, number])[],
    signature?: string,
  ])[],
  reason: FinishReason = { kind: "stop" },
): ChatEvent[] {
  return [
    { type: "message-start", id: "x", model: "m" },
    ...blocks.flatMap(([block, pieces, signature], index): ChatEvent[] => [
      { type: "block-start", index, block },
      ...pieces.map((piece): ChatEvent => {
        const [delta, part] = typeof piece === "string" ? [piece] : piece;
        return { type: "block-delta", index, delta, ...(part !== undefined && { part }) };
      }),
      { type: "block-end", index, ...(signature !== undefined && { signature }) },
    ]),
    { type: "message-end", reason, usage: USAGE },
  ];
}

/** The frames of a streamed answer. */
export function stream(events: readonly ChatEvent[], context: TestContext = answerContext()): Frame[] {
  return writeAll(client.codec.writeStream(context), events);
}

export function dataOf(frames: readonly Frame[]): JsonObject[] {
  return frames.map(({ data }) => JSON.parse(data) as JsonObject);
}

/** The output of the JSON answer. */
export function outputOf(events: readonly ChatEvent[], context: TestContext = answerContext()): JsonObject[] {
  return client.codec.writeAnswer(events, context).output as JsonObject[];
}

/** What the codec makes of a request with these items. */
export function decode(
  input: Json,
  more: JsonObject = {},
  options: ContextOptions = {},
): { request: ChatRequest; losses: string[] } {
  const body: Json = { model: "m", input, ...more };
  const check: (value: Json) => void = client.request.checkRequest;
  check(body);
  const context = makeContext(options);
  return { request: client.codec.decodeRequest(body, context), losses: lossesOf(context) };
}

/** The tools without what the client declared. */
export function bare(tools: readonly Tool[]): object[] {
  return tools.map(({ value: _value, format: _format, memberPaths: _paths, ...tool }) => tool);
}
