/** The upstream codec in the hands of tests: requests out, answers in. */
import type { ChatRequest } from "../../../src/core/chat.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Frame } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { responsesFormat } from "../../../src/formats/responses/index.ts";
import { checkEvents } from "../../helpers/describe-events.ts";
import type { ContextOptions, TestContext } from "../../helpers/codec-context.ts";
import { makeContext } from "../../helpers/codec-context.ts";

export const upstream = responsesFormat.upstream;

/** A request with one message of the user. */
export function ask(parts: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: "some-model",
    turns: [{ role: "user", blocks: [{ type: "text", text: "hello" }] }],
    tools: [],
    stop: [],
    stream: false,
    style: {},
    extra: {},
    ...parts,
  };
}

export function encode(
  parts: Partial<ChatRequest> = {},
  options: ContextOptions = {},
): { body: JsonObject; context: TestContext } {
  const context = makeContext({ model: "gpt-5.4", provider: "openai", isVendor: true, ...options });
  return { body: upstream.codec.encodeRequest(ask(parts), context), context };
}

/** Reads a stream to its `message-end`, or to its end. */
export function readFrames(frames: readonly Frame[], options: ContextOptions = {}): ChatEvent[] {
  const reader = upstream.codec.readStream(makeContext({ provider: "openai", ...options }));
  const events: ChatEvent[] = [];
  for (const frame of frames) {
    events.push(...reader.push(frame));
    if (events.at(-1)?.type === "message-end") return checked(events);
  }
  return checked([...events, ...reader.end()]);
}

/** Reads events, each given as its data. */
export function readEvents(events: readonly JsonObject[], options: ContextOptions = {}): ChatEvent[] {
  return readFrames(
    events.map((event) => ({ data: JSON.stringify(event) })),
    options,
  );
}

export function readBody(body: JsonObject, options: ContextOptions = {}): ChatEvent[] {
  return checked(upstream.codec.readAnswer(body, makeContext({ provider: "openai", ...options })));
}

function checked(events: ChatEvent[]): ChatEvent[] {
  checkEvents(events);
  return events;
}

/** What the events say, block by block, in short. */
export function told(events: readonly ChatEvent[]): string[] {
  const blocks = new Map<number, { kind: string; text: string; rest: string }>();
  for (const event of events) {
    if (event.type === "block-start") {
      const { type, ...rest } = event.block;
      blocks.set(event.index, { kind: type, text: "", rest: Object.values(rest).join(" ") });
    } else if (event.type === "block-delta") blocks.get(event.index)!.text += event.delta;
    else if (event.type === "block-end" && event.signature !== undefined)
      blocks.get(event.index)!.rest += ` sealed ${event.signature}`;
  }
  return [...blocks.values()].map(({ kind, rest, text }) => [kind, rest, text].filter(Boolean).join(": "));
}
