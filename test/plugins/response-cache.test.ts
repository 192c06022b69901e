/** The memory of the response cache: its bounds, and how long it keeps answers. */
import { expect, test } from "bun:test";
import { Entries } from "../../plugins/response-cache/entries.ts";
import type { ChatEvent } from "../../src/core/events.ts";

/** An answer whose JSON has about so many bytes. */
const answer = (text: string, bytes = 100): ChatEvent[] => [
  { type: "block-delta", index: 0, delta: text.repeat(Math.ceil(bytes / text.length)) },
];

test("answers that were used least recently make room for new ones", () => {
  const entries = new Entries({ ttlMs: 60_000, bytes: 100_000 });
  for (let number = 0; number < 40; number++) {
    entries.set(`d${number}`, answer("x", 5_000));
    entries.get("d0");
  }
  expect(entries.bytes).toBeLessThanOrEqual(100_000);
  expect(entries.bytes).toBeGreaterThan(90_000);
  expect([entries.get("d0"), entries.get("d39")]).toEqual([answer("x", 5_000), answer("x", 5_000)]);
  expect(entries.get("d1")).toBeUndefined();
});

test("an answer is replaced, and one that takes more than a sixteenth of the memory is not kept", () => {
  const entries = new Entries({ ttlMs: 60_000, bytes: 100_000 });
  entries.set("a", answer("x"));
  entries.set("a", answer("ü"));
  expect(entries.get("a")).toEqual(answer("ü"));
  const { bytes } = entries;
  entries.set("b", answer("x", 7_000));
  expect([entries.get("b"), entries.bytes]).toEqual([undefined, bytes]);
  entries.set("a", answer("x", 7_000));
  expect([entries.get("a"), entries.bytes]).toEqual([undefined, 0]);
});

test("an answer is forgotten after its time, read or not, however often it is used", async () => {
  const entries = new Entries({ ttlMs: 40, bytes: 100_000 });
  const until = performance.now() + 40;
  entries.set("a", answer("x"));
  entries.set("b", answer("y"));
  while (performance.now() < until) {
    entries.get("a");
    await Bun.sleep(5);
  }
  expect(entries.get("a")).toBeUndefined();
  await Bun.sleep(100);
  expect(entries.bytes).toBe(0);
});
