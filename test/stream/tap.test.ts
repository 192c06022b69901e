import { expect, test } from "bun:test";
import fc from "fast-check";
import type { StreamObserver } from "../../src/core/format.ts";
import { Tap } from "../../src/stream/tap.ts";
import { withinBudget } from "../helpers/within-budget.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** A small language: `done` ends it. */
const watch: StreamObserver = {
  marks: ["done"],
  frame(frame, seen) {
    if (frame.data === "done") seen.terminated = true;
  },
  answer() {},
};

function relay(chunks: readonly Uint8Array[]): { out: string; tap: Tap } {
  const tap = new Tap(watch);
  const passed = [...chunks.map((chunk) => tap.push(chunk)), tap.rest()];
  return { out: Buffer.concat(passed.filter((piece) => piece !== undefined)).toString(), tap };
}

test("bytes go through unchanged at any chunking, and the ending is seen", () => {
  const stream = fc.array(
    fc.constantFrom("data: a\n\n", ": ping\n\n", "data: é\r\n\r\n", "event: x\ndata: b\n\n"),
  );
  withinBudget(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), fc.boolean(), (events, cuts, ends) => {
      const text = events.join("") + (ends ? "data: done\n\n" : "");
      const all = bytes(text);
      const places = [...new Set(cuts.map((cut) => cut % (all.length + 1)))].sort((a, b) => a - b);
      const chunks = [...places, all.length].map((to, index) => all.subarray(places[index - 1] ?? 0, to));
      const { out, tap } = relay(chunks);
      expect(out).toBe(text);
      expect(tap.seen.terminated).toBe(ends);
    }),
  );
});

test("one byte at a time", () => {
  const text = "data: a\r\n\r\ndata: done\n\n";
  const { out, tap } = relay([...bytes(text)].map((byte) => Uint8Array.of(byte)));
  expect(out).toBe(text);
  expect(tap.seen.terminated).toBe(true);
});

test("part of an event is held until it is whole", () => {
  const tap = new Tap(watch);
  expect(tap.push(bytes("data: a\n\ndata: b"))?.length).toBe(9);
  expect(tap.push(bytes("c"))).toBeUndefined();
  expect(Buffer.from(tap.push(bytes("\n\n"))!).toString()).toBe("data: bc\n\n");
});

test("an event past the limit is passed on, and marked as not whole until it ends", () => {
  const tap = new Tap(watch);
  const piece = new Uint8Array(5 * 1024 * 1024).fill(0x78);
  expect(tap.push(piece)).toBeUndefined();
  expect(tap.push(piece)?.length).toBe(piece.length * 2);
  expect(tap.midEvent).toBe(true);
  tap.push(bytes("\n\n"));
  expect(tap.midEvent).toBe(false);
});

test("comments do not start an answer, the first event does", () => {
  const tap = new Tap(watch);
  tap.push(bytes(": waiting\n\n"));
  expect(tap.started).toBe(false);
  tap.push(bytes("data: a\n\n"));
  expect(tap.started).toBe(true);
});

test("an event that answers a question of weir's own is read and not passed on, at any chunking", () => {
  const asked = {
    member: "x",
    ask: () => undefined,
    isAnswer: (frame: { data: string }) => frame.data === "counts done",
  };
  const others = fc.array(
    fc.constantFrom("data: a\n\n", ": ping\n\n", "data: é\r\n\r\n", "data: b done\n\n"),
  );
  withinBudget(
    fc.property(
      others,
      others,
      fc.constantFrom("\n\n", "\r\n\r\n"),
      fc.array(fc.nat(), { maxLength: 12 }),
      (before, after, blank, cuts) => {
        const all = bytes(`${before.join("")}data: counts done${blank}${after.join("")}`);
        const places = [0, ...cuts.map((cut) => cut % all.length).toSorted((a, b) => a - b), all.length];
        const tap = new Tap(watch, asked);
        const passed = places.slice(1).map((end, index) => tap.push(all.slice(places[index], end)));
        const out = Buffer.concat([...passed, tap.rest()].filter((piece) => piece !== undefined)).toString();
        expect(out).toBe(before.join("") + after.join(""));
      },
    ),
  );
});

test("text is counted and marks are found at any chunking, also in events that are equal but for their text", () => {
  const written = fc.constantFrom("a", "bcd", "", 'e\\"f', "é", "done", '\\"},\\"done\\":1');
  const events = fc.array(
    fc.oneof(
      written.map((text) => ({ text, event: `data: {"delta":{"text":"${text}"},"n":0}\n\n` })),
      written.map((text) => ({ text, event: `data: {"delta":{"text":"${text}"},"n":1}\n\n` })),
      written.map((text) => ({ text, event: `event: x\r\ndata: {"delta":{"more":"${text}"}}\r\n\r\n` })),
      fc
        .constantFrom(": ping\n\n", 'data: {"done":1,"text":""}\n\n', "\n")
        .map((event) => ({ text: "", event })),
    ),
  );
  withinBudget(
    fc.property(events, fc.array(fc.nat(), { maxLength: 8 }), fc.boolean(), (list, cuts, counts) => {
      let ends = 0;
      const counted: StreamObserver = {
        marks: ['"done":1'],
        deltas: ["text", "more"],
        frame: ({ data }) => void (data.includes('"done":1') && ends++),
        answer() {},
      };
      const all = bytes(`data: first\n\n${list.map(({ event }) => event).join("")}`);
      const places = [...new Set(cuts.map((cut) => cut % (all.length + 1)))].sort((a, b) => a - b);
      const chunks = [...places, all.length].map((to, index) => all.subarray(places[index - 1] ?? 0, to));
      const tap = new Tap(counted, undefined, counts);
      const passed = [...chunks.map((chunk) => tap.push(chunk)), tap.rest()].filter(
        (one) => one !== undefined,
      );
      expect(Buffer.concat(passed)).toEqual(Buffer.from(all));
      expect(tap.output).toBe(list.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0));
      expect(ends).toBe(list.filter(({ event }) => event.includes('"done":1')).length);
      expect(tap.outputTokens > 0).toBe(counts && list.some(({ text }) => text !== ""));
    }),
  );
});

test("a chunk without bytes changes nothing", () => {
  const { out, tap } = relay(["data: done\n", "", "\n"].map(bytes));
  expect([out, tap.seen.terminated]).toEqual(["data: done\n\n", true]);
  expect(new Tap(watch).push(bytes(""))).toBeUndefined();
});
