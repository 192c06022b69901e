/** Counting the output in the events of a stream, however they arrive. */
import { expect, test } from "bun:test";
import { DeltaCounter } from "../../src/stream/delta-bytes.ts";

const EVENTS = [
  'data: {"delta":{"text":"abc"}}',
  'data: {"delta":{"text":"a\\"b"}}',
  'event: delta\ndata: {"delta":{"thinking": "abcdef"}}',
  'data: {"delta":{"text":null,"json":"{}"}}',
];
const BYTES = 3 + 4 + 6 + 2;

test.each([["\n"], ["\r\n"]])(
  "counts all members of events that arrive together, lines ending with %j",
  (end) => {
    const text = EVENTS.map((event) => event.replaceAll("\n", end) + end + end);
    const counter = () => new DeltaCounter(["text", "thinking", "json"]);
    expect(counter().count(text.join(""))).toBe(BYTES);
    const one = counter();
    expect(text.reduce((sum, event) => sum + one.count(event), 0)).toBe(BYTES);
  },
);

test("counts one of two members of an event, because some hosts send the same text twice", () => {
  const counter = new DeltaCounter(["reasoning_content", "reasoning"]);
  expect(counter.count('data: {"reasoning":"abc","reasoning_content":"abc"}\n\n')).toBe(3);
});
