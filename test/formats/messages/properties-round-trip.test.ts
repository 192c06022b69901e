/** What is decoded and encoded again says the same. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatEvent, FinishReason } from "../../../src/core/events.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import {
  client,
  requestContext,
  stream,
  upstream,
  USAGE,
  writeAnswer,
  readFrames,
  readBody,
} from "./make.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const cleanText = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => text.trim() !== "");

describe("round trips", () => {
  const textRun = (index: number, text: string): ChatEvent[] => [
    { type: "block-start", index, block: { type: "text" } },
    { type: "block-delta", index, delta: text },
    { type: "block-end", index },
  ];
  const signedRun = (index: number, text: string): ChatEvent[] => [
    { type: "block-start", index, block: { type: "reasoning", origin: "anthropic" } },
    { type: "block-delta", index, delta: text },
    { type: "block-end", index, signature: "SIG" },
  ];
  const callRun = (index: number, input: string): ChatEvent[] => [
    {
      type: "block-start",
      index,
      block: { type: "tool-call", id: `t${index}`, name: "f", kind: "function" },
    },
    { type: "block-delta", index, delta: input },
    { type: "block-end", index },
  ];
  const canonical = fc
    .array(fc.tuple(fc.constantFrom(textRun, signedRun, callRun), cleanText), { maxLength: 5 })
    .map((parts) =>
      parts.flatMap(([run, text], index) => run(index, run === callRun ? JSON.stringify({ text }) : text)),
    );

  test("events encoded and decoded are the same events, streamed and whole", async () => {
    await withinBudget(
      fc.asyncProperty(canonical, async (blocks) => {
        const hasCall = blocks.some(
          (event) => event.type === "block-start" && event.block.type === "tool-call",
        );
        const reason: FinishReason = hasCall
          ? { kind: "tool-calls", raw: "tool_use" }
          : { kind: "stop", raw: "end_turn" };
        const events: ChatEvent[] = [
          { type: "message-start", id: "msg_1", model: "m", usage: { ...USAGE, known: "partial" } },
          ...blocks,
          { type: "usage", usage: USAGE },
          { type: "message-end", reason, usage: USAGE },
        ];
        const call = requestContext({ format: "messages", model: "claude-opus-4-8" });
        const named = events.map((event) =>
          event.type === "message-start" ? { ...event, model: call.model } : event,
        );
        const decoded = readFrames(stream(named, call), call);
        expect(decoded).toEqual(named);
        expect(readBody(writeAnswer(named, call), call)).toEqual(named);
      }),
    );
  });

  test("requests decoded and encoded say the same", () => {
    const block = fc.oneof(
      cleanText.map((text): JsonObject => ({ type: "text", text })),
      fc.constant<JsonObject>({ type: "image", source: { type: "url", url: "https://example.com/a.png" } }),
      fc.constant<JsonObject>({
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "d" },
        title: "t",
      }),
      fc.constant<JsonObject>({ type: "container_upload", file_id: "f" }),
    );
    const content = fc.array(block, { minLength: 1, maxLength: 3 });
    const said = fc.array(
      fc.oneof(
        cleanText.map((text): JsonObject => ({ type: "text", text })),
        fc.constant<JsonObject>({ type: "thinking", thinking: "t", signature: "S" }),
        fc.constant<JsonObject>({ type: "redacted_thinking", data: "D" }),
      ),
      { minLength: 1, maxLength: 3 },
    );
    const exchange = fc.tuple(content, said, fc.boolean());
    withinBudget(
      fc.property(fc.array(exchange, { maxLength: 4 }), content, (history, last) => {
        const messages: Json[] = [];
        let results: Json[] = [];
        for (const [index, [asked, answered, calls]] of history.entries()) {
          messages.push({ role: "user", content: [...results, ...asked] });
          const call = { type: "tool_use", id: `t${index}`, name: "f", input: { index } };
          messages.push({ role: "assistant", content: calls ? [...answered, call] : answered });
          results = calls ? [{ type: "tool_result", tool_use_id: `t${index}`, content: "r" }] : [];
        }
        messages.push({ role: "user", content: [...results, ...last] });
        const body: JsonObject = { model: "claude-opus-4-8", max_tokens: 9, messages };
        const context = requestContext({ format: "messages", model: "claude-opus-4-8" });
        const request = client.codec.decodeRequest(body, context);
        expect(upstream.codec.encodeRequest(request, context)).toEqual(body);
        expect(context.losses).toEqual([]);
      }),
    );
  });
});
