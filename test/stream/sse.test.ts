import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Frame } from "../../src/core/format.ts";
import { lastEventEnd, parseFrames, SseParser, writeFrame } from "../../src/stream/sse.ts";
import { withinBudget } from "../helpers/within-budget.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Cases of the WHATWG standard's event stream interpretation. */
const CASES: readonly [name: string, stream: string, frames: Frame[]][] = [
  ["one data line", "data: a\n\n", [{ data: "a" }]],
  ["lines joined by LF", "data: a\ndata: b\n\n", [{ data: "a\nb" }]],
  ["an event name", "event: x\ndata: a\n\n", [{ event: "x", data: "a" }]],
  ["no space behind the colon", "data:a\n\n", [{ data: "a" }]],
  ["only one space is taken", "data:  a\n\n", [{ data: " a" }]],
  ["a field without a colon", "data\n\n", [{ data: "" }]],
  ["comments and unknown fields", ": hi\nid: 1\nretry: 3\ndata: a\n\n", [{ data: "a" }]],
  ["a comment alone is no event", ": keepalive\n\n", []],
  ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", [{ data: "a" }, { data: "b" }]],
  ["CR", "data: a\r\rdata: b\r\r", [{ data: "a" }, { data: "b" }]],
  ["a byte order mark", "\ufeffdata: a\n\n", [{ data: "a" }]],
  ["an unfinished event is dropped", "data: a\n\ndata: b\n", [{ data: "a" }]],
  ["an event name without data is dropped", "event: x\n\ndata: a\n\n", [{ data: "a" }]],
  ["characters of more than one byte", "data: é東京🙂\n\n", [{ data: "é東京🙂" }]],
];

for (const [name, stream, frames] of CASES) {
  test(`events are read from a whole stream: ${name}`, () => {
    expect(parseFrames(bytes(stream))).toEqual(frames);
  });
  test(`events are read byte by byte: ${name}`, () => {
    const parser = new SseParser();
    expect([...bytes(stream)].flatMap((byte) => parser.push(Uint8Array.of(byte)))).toEqual(frames);
  });
}

const line = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n\ufeff]/g, ""));
const frame = fc.record({
  event: fc.option(
    line.filter((name) => name !== "" && !name.startsWith(" ")),
    { nil: undefined },
  ),
  data: line,
});
const ending = fc.constantFrom("\n", "\r\n", "\r");

test("any chunking gives the same events, whatever ends the lines", () => {
  const cuts = fc.array(fc.nat(), { maxLength: 20 });
  withinBudget(
    fc.property(fc.array(frame, { maxLength: 6 }), ending, cuts, (frames, eol, at) => {
      const stream = bytes(frames.map((one) => writeFrame(one).replaceAll("\n", eol)).join(""));
      const places = [...new Set(at.map((cut) => cut % (stream.length + 1)))].sort((a, b) => a - b);
      const parser = new SseParser();
      const seen: Frame[] = [];
      let from = 0;
      for (const to of [...places, stream.length]) {
        seen.push(...parser.push(stream.subarray(from, to)));
        from = to;
      }
      const plain = frames.map(({ event, data }) => (event === undefined ? { data } : { event, data }));
      expect(seen).toEqual(plain);
    }),
  );
});

test("a long line in small pieces takes linear time", () => {
  const parser = new SseParser();
  const piece = bytes("x".repeat(1000));
  parser.push(bytes("data: "));
  for (let count = 0; count < 20_000; count++) parser.push(piece);
  expect(parser.push(bytes("\n\n"))[0]?.data.length).toBe(20_000_000);
});

test("the end of the last whole event", () => {
  const rows: [string, number][] = [
    ["", 0],
    ["data: a", 0],
    ["data: a\n", 0],
    ["data: a\n\n", 9],
    ["data: a\r\n\r\n", 11],
    ["data: a\n\ndata: b\n", 9],
    ["a\r\rb", 3],
    ["\n", 0],
    ["x\n\n\n", 4],
  ];
  for (const [text, end] of rows) expect([text, lastEventEnd(bytes(text))]).toEqual([text, end]);
});
