import { expect, test } from "bun:test";
import { estimateTokens, TextEstimate } from "../../src/core/estimate.ts";
import type { ChatRequest } from "../../src/core/chat.ts";

const request = (text: string): ChatRequest => ({
  model: "m",
  turns: [{ role: "user", blocks: [{ type: "text", text }] }],
  tools: [],
  stop: [],
  stream: false,
  style: {},
  extra: {},
});

test("a request of plain words is about as many tokens as words", () => {
  const words = "the cat sat on the mat and looked at us ".repeat(100);
  expect(estimateTokens(request(words))).toBeWithin(900, 1200);
  expect(estimateTokens(request(""))).toBeWithin(1, 20);
});

test("a text in pieces is about the same as the whole text", () => {
  const text = "It took 128 ms, naïvely: 你好 (x).\n\n".repeat(20);
  const whole = new TextEstimate();
  whole.add(text);
  const pieces = new TextEstimate();
  for (let at = 0; at < text.length; at += 7) pieces.add(text.slice(at, at + 7));
  expect(pieces.tokens).toBeWithin(whole.tokens, Math.ceil(whole.tokens * 1.3));
});
