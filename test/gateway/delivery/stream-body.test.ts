import { describe, expect, test } from "bun:test";
import { streamBody } from "../../../src/gateway/delivery/stream-body.ts";

const encoder = new TextEncoder();
const events = ['{"a":"ü"}', '{"b":2}'].map((data) => `data: ${data}\n\n`).join("");

describe("a stream with a JSON value in each line", () => {
  const lines = () => streamBody({ asArray: false }, { heartbeat: " ", lines: true });

  test("has the same values at every size of chunks, and white space in front of them alone", () => {
    const bytes = encoder.encode(`: comment\n\n${events}`);
    for (const size of [1, 2, 3, 7, bytes.length]) {
      const body = lines();
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) pieces.push(body.piece(bytes.subarray(at, at + size)));
      expect(body.end()).toBeUndefined();
      const text = Buffer.concat(pieces).toString();
      expect([size, text.replaceAll(/^ +/gm, "")]).toEqual([size, '{"a":"ü"}\n{"b":2}\n']);
      expect(
        text
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line) as object),
      ).toHaveLength(2);
    }
  });

  test("has heartbeats and a filler that a reader of lines takes for the beginning of the next line", () => {
    const body = lines();
    expect([body.contentType, ...[body.heartbeat, body.filler].map(String)]).toEqual([
      "application/x-ndjson",
      "32",
      "32",
    ]);
  });

  test("ends with a line that has the error", () => {
    const body = lines();
    body.piece(encoder.encode(events));
    expect(Buffer.from(body.error([{ data: '{"error":"x"}' }], "")).toString()).toBe('{"error":"x"}\n');
  });
});

test("other streams are server-sent events, or one array", () => {
  const framing = { heartbeat: ": ping\n\n" };
  const bytes = encoder.encode(events);
  expect(streamBody({ asArray: false }, framing).piece(bytes)).toBe(bytes);
  const array = streamBody({ asArray: true }, framing);
  const text = Buffer.concat([array.piece(bytes), array.end()!]).toString();
  expect(JSON.parse(text)).toEqual([{ a: "ü" }, { b: 2 }]);
});
