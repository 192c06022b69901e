/** The upstream codec in the hands of tests: requests out, answers in. */
import type {
  Block,
  ChatRequest,
  Tool,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
} from "../../../src/core/chat.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Frame } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { converseFormat } from "../../../src/formats/converse/index.ts";
import { readAll } from "../../helpers/answer-codecs.ts";
import { type ContextOptions, lossesOf, makeContext, type TestContext } from "../../helpers/codec-context.ts";
import { checkEvents } from "../../helpers/describe-events.ts";

export const { upstream } = converseFormat;

export const CLAUDE = "us.anthropic.claude-haiku-4-5-20251001-v1:0";
export const NOVA = "amazon.nova-lite-v1:0";
export const GPT_OSS = "openai.gpt-oss-120b-1:0";
export const LLAMA = "us.meta.llama4-maverick-17b-instruct-v1:0";
export const MISTRAL = "mistral.mistral-large-2402-v1:0";
export const KIMI = "moonshot.kimi-k2-thinking";

export const text = (value: string, cache?: object): Block => ({
  type: "text",
  text: value,
  ...(cache && { cache }),
});
export const user = (...blocks: Block[]): Turn => ({ role: "user", blocks });
export const assistant = (...blocks: Block[]): Turn => ({ role: "assistant", blocks });
export const system = (...blocks: Block[]): Turn => ({ role: "system", blocks });
export const called = (id: string, name = "f", input = "{}"): ToolCallBlock => ({
  type: "tool-call",
  id,
  name,
  input,
  kind: "function",
});
export const result = (id: string, ...blocks: Block[]): ToolResultBlock => ({
  type: "tool-result",
  id,
  blocks,
});
export const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ kind: "function", name, ...more });

export interface Encoded {
  body: JsonObject;
  /** `code:path` of each loss. */
  losses: string[];
  context: TestContext;
}

export function encode(parts: Partial<ChatRequest> = {}, options: ContextOptions = {}): Encoded {
  const request: ChatRequest = {
    model: "m",
    turns: [user(text("hi"))],
    tools: [],
    stop: [],
    stream: false,
    style: {},
    extra: {},
    ...parts,
  };
  const context = makeContext({ model: CLAUDE, provider: "bedrock", ...options, request });
  const body = upstream.codec.encodeRequest(request, context);
  return { body, losses: lossesOf(context), context };
}

/** The content of each message, with its role. */
export function messagesOf(body: JsonObject): [role: string, ...content: JsonObject[]][] {
  return (body.messages as JsonObject[]).map(({ role, content }) => [
    String(role),
    ...(content as JsonObject[]),
  ]);
}

export type Event = readonly [event: string, data: JsonObject];

export const framesOf = (events: readonly Event[]): Frame[] =>
  events.map(([event, data]) => ({ event, data: JSON.stringify(data) }));

export const start: Event = ["messageStart", { role: "assistant" }];
export const begin = (index: number, value: JsonObject): Event => [
  "contentBlockStart",
  { contentBlockIndex: index, start: value },
];
export const delta = (index: number, value: JsonObject): Event => [
  "contentBlockDelta",
  { contentBlockIndex: index, delta: value, p: "abc" },
];
export const stop = (index: number): Event => ["contentBlockStop", { contentBlockIndex: index }];
export const end = (stopReason = "end_turn", more: JsonObject = {}): Event => [
  "messageStop",
  { stopReason, ...more },
];
export const metadata: Event = [
  "metadata",
  { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, metrics: { latencyMs: 1 } },
];

const answering = (options: ContextOptions) =>
  makeContext({ model: CLAUDE, provider: "bedrock", ...options });

/** Reads a stream to its `message-end`, or to its end. @throws what the reader throws */
export function readStream(events: readonly Event[], options: ContextOptions = {}): ChatEvent[] {
  return readFrames(framesOf(events), options);
}

export function readFrames(frames: readonly Frame[], options: ContextOptions = {}): ChatEvent[] {
  return checked(readAll(upstream.codec.readStream(answering(options)), frames));
}

/** Reads a JSON answer with this content. */
export function readContent(
  content: JsonObject[],
  options: ContextOptions = {},
  stopReason = "end_turn",
): ChatEvent[] {
  const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
  return readBody({ output: { message: { role: "assistant", content } }, stopReason, usage }, options);
}

export function readBody(body: JsonObject, options: ContextOptions = {}): ChatEvent[] {
  return checked(upstream.codec.readAnswer(body, answering(options)));
}

function checked(events: ChatEvent[]): ChatEvent[] {
  checkEvents(events);
  return events;
}

/** What the events say, block by block, in short. */
export function told(events: readonly ChatEvent[]): string[] {
  const blocks = new Map<number, { head: string; text: string; tail: string }>();
  for (const event of events) {
    if (event.type === "block-start") {
      const { type, ...rest } = event.block;
      const more = Object.values(rest).map((value) =>
        typeof value === "string" ? value : JSON.stringify(value),
      );
      blocks.set(event.index, { head: [type, ...more].join(" "), text: "", tail: "" });
    } else if (event.type === "block-delta") blocks.get(event.index)!.text += event.delta;
    else if (event.type === "citation") blocks.get(event.index)!.text += `<${event.citation.url}>`;
    else if (event.type === "block-end" && event.signature !== undefined)
      blocks.get(event.index)!.tail = ` signed ${event.signature}`;
  }
  return [...blocks.values()].map(({ head, text: said, tail }) => `${head}: ${said}${tail}`);
}

export function endOf(events: readonly ChatEvent[]): ChatEvent & { type: "message-end" } {
  const last = events.at(-1);
  if (last?.type !== "message-end") throw new Error("The events have no end.");
  return last;
}
