/** The events of a streamed answer do not depend on how its bytes arrive. */
import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/core/events.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";
import { readAll, readInChunks, readUntilError, writeAll } from "../../helpers/answer-codecs.ts";
import { makeContext } from "../../helpers/codec-context.ts";
import { checkBrokenEvents, checkEvents } from "../../helpers/describe-events.ts";

const ANSWER: ChatEvent[] = [
  { type: "message-start", id: "msg_1", model: "m" },
  { type: "block-start", index: 0, block: { type: "reasoning", origin: "vendor" } },
  { type: "block-delta", index: 0, delta: "Grüße, 你好 😀" },
  { type: "block-end", index: 0, signature: "c2lnbmVk" },
  { type: "block-start", index: 1, block: { type: "text" } },
  { type: "block-delta", index: 1, delta: "one\r\n\r\ntwo" },
  { type: "block-delta", index: 1, delta: " data: 🇩🇪" },
  { type: "block-end", index: 1 },
  { type: "block-start", index: 2, block: { type: "tool-call", id: "t1", name: "f", kind: "function" } },
  { type: "block-delta", index: 2, delta: '{"a":' },
  { type: "block-delta", index: 2, delta: '"ü"}' },
  { type: "block-end", index: 2 },
  {
    type: "message-end",
    reason: { kind: "tool-calls" },
    usage: { input: 3, cacheRead: 2, cacheWrite: 1, output: 9, reasoning: 4 },
  },
];

/** Sizes of the chunks in bytes. */
const SIZES = [1, 2, 3, 7, 64, 1 << 20];

for (const { id, client, upstream } of [chatCompletionsFormat, messagesFormat])
  describe(id, () => {
    const frames = writeAll(client!.writeStream(makeContext()), ANSWER);
    const whole = readAll(upstream!.readStream(makeContext()), frames);

    test("the events hold their promises", () => {
      checkEvents(whole);
      expect(whole.length).toBeGreaterThanOrEqual(ANSWER.length);
    });

    test.each(SIZES)("chunks of %d bytes give the same events", (size) => {
      expect(readInChunks(upstream!.readStream(makeContext()), frames, size)).toEqual(whole);
    });

    test("a stream that is cut after any frame before the finish reason gives no message-end", () => {
      const end = frames.findIndex(({ data }) => /"(?:finish|stop)_reason":"/.test(data));
      expect(end).toBeGreaterThan(0);
      for (let count = 0; count < end; count++) {
        const reader = upstream!.readStream(makeContext());
        const { events, error } = readUntilError(reader, frames.slice(0, count));
        expect(error).toMatchObject({ kind: "upstream", code: "stream_incomplete" });
        checkBrokenEvents(events);
      }
    });
  });
