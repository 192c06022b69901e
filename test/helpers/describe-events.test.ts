import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../src/core/events.ts";
import { NO_USAGE } from "../../src/core/events.ts";
import { checkBrokenEvents, checkEvents, textOf } from "./describe-events.ts";

const start: ChatEvent = { type: "message-start", id: "a", model: "m" };
const end: ChatEvent = { type: "message-end", reason: { kind: "stop" }, usage: NO_USAGE };
const open = (index: number): ChatEvent => ({ type: "block-start", index, block: { type: "text" } });
const call = (index: number, id = `c${index}`): ChatEvent => ({
  type: "block-start",
  index,
  block: { type: "tool-call", id, name: "f", kind: "function" },
});
const say = (index: number, delta: string): ChatEvent => ({ type: "block-delta", index, delta });
const close = (index: number): ChatEvent => ({ type: "block-end", index });

describe("checkEvents", () => {
  const kept: Record<string, ChatEvent[]> = {
    "an empty answer": [start, end],
    "blocks one after another": [start, open(0), say(0, "x"), close(0), open(1), close(1), end],
    "tool calls that overlap": [start, call(0), call(1), say(0, "{}"), say(1, "{}"), close(1), close(0), end],
    "usage between": [start, { type: "usage", usage: { input: 3 } }, end],
  };
  for (const [name, events] of Object.entries(kept)) test(`takes ${name}`, () => checkEvents(events));

  const broken: Record<string, [ChatEvent[], RegExp]> = {
    "no start": [[open(0)], /Event 0 comes before message-start/],
    "two starts": [[start, start], /Event 1 is the second start/],
    "no end": [[start], /do not end/],
    "something behind the end": [[start, end, end], /Event 2 comes after/],
    "an index that is skipped": [[start, open(1)], /should have index 0/],
    "an index that is used again": [[start, open(0), close(0), open(0)], /should have index 1/],
    "texts that overlap": [[start, open(0), open(1)], /overlaps/],
    "a call over a text": [[start, open(0), call(1)], /overlaps/],
    "a block left open": [[start, open(0), end], /leaves block 0 open/],
    "a piece of nothing": [[start, say(0, "x")], /not open/],
    "a piece behind its block": [[start, open(0), close(0), say(0, "x")], /not open/],
    "one id for two calls": [[start, call(0, "c"), call(1, "c")], /id of its own/],
    "a signed text": [[start, open(0), { type: "block-end", index: 0, signature: "s" }], /signs/],
    "half a token": [[start, { ...end, usage: { ...NO_USAGE, input: 0.5 } }], /0.5 tokens/],
    "more reasoning than output": [
      [start, { ...end, usage: { ...NO_USAGE, reasoning: 1 } }],
      /more reasoning/,
    ],
    "a stop sequence that stopped nothing": [
      [start, { ...end, reason: { kind: "stop", stopSequence: "x" } }],
      /stop sequence/,
    ],
  };
  for (const [name, [events, sentence]] of Object.entries(broken))
    test(`refuses ${name}`, () => expect(() => checkEvents(events)).toThrow(sentence));
});

test("checkBrokenEvents takes a beginning and refuses an ending", () => {
  checkBrokenEvents([start, open(0), say(0, "x")]);
  expect(() => checkBrokenEvents([start, end])).toThrow(/although their source broke off/);
});

test("textOf joins the blocks of one type", () => {
  const events = [start, call(0), say(0, "{}"), close(0), open(1), say(1, "a"), say(1, "b"), close(1), end];
  expect(textOf(events)).toBe("ab");
  expect(textOf(events, "tool-call")).toBe("{}");
});
