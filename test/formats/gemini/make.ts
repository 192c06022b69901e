/** Requests and answers for the tests of the upstream codec. */
import type { Block, ChatRequest, ToolCallBlock, ToolResultBlock, Turn } from "../../../src/core/chat.ts";
import type { BlockStart, ChatEvent } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { geminiFormat } from "../../../src/formats/gemini/index.ts";
import { type ContextOptions, lossesOf, makeContext, type TestContext } from "../../helpers/codec-context.ts";

export const { upstream } = geminiFormat;

/** The plainest request. */
export const PLAIN: ChatRequest = {
  model: "m",
  turns: [{ role: "user", blocks: [{ type: "text", text: "Hi" }] }],
  tools: [],
  stop: [],
  stream: false,
  style: {},
  extra: {},
};

export const text = (value: string): Block => ({ type: "text", text: value });
export const user = (...blocks: (Block | string)[]): Turn => turn("user", blocks);
export const assistant = (...blocks: (Block | string)[]): Turn => turn("assistant", blocks);
export const system = (...blocks: (Block | string)[]): Turn => turn("system", blocks);

function turn(role: Turn["role"], blocks: readonly (Block | string)[]): Turn {
  return { role, blocks: blocks.map((block) => (typeof block === "string" ? text(block) : block)) };
}

export const call = (id: string, name = "f", input = "{}"): ToolCallBlock => ({
  type: "tool-call",
  id,
  name,
  input,
  kind: "function",
});

export const result = (id: string, value: string | Block[] = "ok", error = false): ToolResultBlock => ({
  type: "tool-result",
  id,
  blocks: typeof value === "string" ? [text(value)] : value,
  ...(error && { error }),
});

/** Reasoning that Google signed. */
export const signed = (signature: string, thoughts = ""): Block => ({
  type: "reasoning",
  text: thoughts,
  signature,
  origin: "google",
});

export interface Encoded {
  body: JsonObject;
  contents: { role: string; parts: JsonObject[] }[];
  losses: string[];
}

const DEFAULTS: ContextOptions = { provider: "gemini", model: "gemini-3-flash-preview" };

/** The body for a provider; default: Gemini 3 at AI Studio. */
export function encode(request: Partial<ChatRequest>, options: ContextOptions = {}): Encoded {
  const context = makeContext({ ...DEFAULTS, ...options });
  const body = upstream.codec.encodeRequest({ ...PLAIN, ...request }, context);
  return { body, contents: body["contents"] as unknown as Encoded["contents"], losses: lossesOf(context) };
}

/** A record of an answer with these parts. */
export function record(parts: readonly JsonObject[], finishReason?: string | number): JsonObject {
  return {
    candidates: [{ content: { role: "model", parts: [...parts] }, ...(finishReason && { finishReason }) }],
  };
}

/** The context of an answer; default: Gemini 3 and a client of another format. */
export const answerContext = (options: ContextOptions = {}) => makeContext({ ...DEFAULTS, ...options });

/** The events of a streamed answer. */
export function readRecords(
  records: readonly JsonObject[],
  context: TestContext = answerContext(),
): ChatEvent[] {
  const reader = upstream.codec.readStream(context);
  return [...records.flatMap((body) => reader.push({ data: JSON.stringify(body) })), ...reader.end()];
}

interface ReadBlock {
  block: BlockStart;
  text: string;
  signature?: string;
}

/** The blocks of an answer with their texts, and its end. */
export function contentOf(events: readonly ChatEvent[]): {
  blocks: ReadBlock[];
  end: ChatEvent & { type: "message-end" };
} {
  const blocks: ReadBlock[] = [];
  for (const event of events) {
    if (event.type === "block-start") blocks.push({ block: event.block, text: "" });
    if (event.type === "block-delta") blocks[event.index]!.text += event.delta;
    if (event.type === "block-end" && event.signature !== undefined)
      blocks[event.index]!.signature = event.signature;
  }
  return { blocks, end: events.at(-1) as ChatEvent & { type: "message-end" } };
}

/** The blocks of an answer as a client of this kind of block would send them back. */
export function replayed(events: readonly ChatEvent[]): Block[] {
  return contentOf(events).blocks.flatMap(({ block, text: value, signature }): Block[] => {
    switch (block.type) {
      case "text":
        return [text(value)];
      case "reasoning":
        return [{ ...block, text: value, ...(signature !== undefined && { signature }) }];
      case "tool-call":
        return [{ ...block, input: value }];
      default:
        return block.type === "foreign" ? [block] : [];
    }
  });
}
