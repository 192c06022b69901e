import { describe, expect, test } from "bun:test";
import type { Frame } from "../../../src/core/format.ts";
import { readUntilError } from "../../helpers/answer-codecs.ts";
import { framesOf, requestContext, upstream, readFrames } from "./make.ts";
import { calls, end, grow, open, says, start } from "./wire.ts";

describe("a stream ends as its provider ended it, or with an error", () => {
  const decode = (frames: readonly Frame[]) => {
    const { events, error } = readUntilError(upstream.codec.readStream(requestContext()), frames);
    return { error, types: events.map(({ type }) => type) };
  };

  test("cut in mid-text or mid-arguments it throws, and ends nothing", () => {
    for (const events of [
      [],
      [start()],
      [start(), ...says(0, "a").slice(0, 2)],
      [start(), ...says(0, "a")],
      [start(), ...calls(0, "f", '{"a"').slice(0, 2)],
    ]) {
      const { error, types } = decode(framesOf(events));
      expect(error).toMatchObject({ kind: "upstream", code: "stream_incomplete" });
      expect(types).not.toContain("message-end");
    }
  });

  test("cut behind the reason it is whole", () => {
    const frames = framesOf([start(), ...says(0, "a"), ...end().slice(0, 1)]);
    expect(readFrames(frames).at(-1)).toMatchObject({ type: "message-end", reason: { kind: "stop" } });
  });

  test("message_stop ends the answer at once", () => {
    const reader = upstream.codec.readStream(requestContext());
    const events = framesOf([start(), ...says(0, "a"), ...end()]).flatMap((frame) => reader.push(frame));
    expect(events.at(-1)!.type).toBe("message-end");
  });

  test("an error event ends it, also behind the reason", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    for (const events of [
      [start(), ...says(0, "a"), error],
      [start(), ...end().slice(0, 1), error],
    ])
      expect(decode(framesOf(events)).error).toMatchObject({ kind: "overloaded" });
  });

  const MANGLED: [string, Frame[]][] = [
    ["no JSON", [{ event: "message_start", data: "{" }]],
    ["an array", [{ data: "[]" }]],
    ["a block before the message", framesOf(says(0, "a"))],
    ["two messages", framesOf([start(), start()])],
    ["a block twice", framesOf([start(), open(0, { type: "text" }), open(0, { type: "text" })])],
    ["arguments of no call", framesOf([start(), grow(0, { type: "input_json_delta", partial_json: "{" })])],
    [
      "text in a call",
      framesOf([
        start(),
        open(0, { type: "tool_use", id: "t", name: "f" }),
        grow(0, { type: "text_delta", text: "a" }),
      ]),
    ],
    ["a call without a name", framesOf([start(), open(0, { type: "tool_use", id: "t" })])],
    ["no index", framesOf([start(), { type: "content_block_stop" }])],
    ["no block", framesOf([start(), { type: "content_block_start", index: 0 }])],
  ];
  for (const [name, frames] of MANGLED)
    test(`mangled: ${name}`, () => {
      const { error, types } = decode(frames);
      expect(error).toMatchObject({ kind: "upstream", code: "upstream_invalid_answer" });
      expect(types).not.toContain("message-end");
    });
});
