import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Frame } from "../../../src/core/format.ts";
import { failure, framesOf, fromList, makeCall, read, toList, upstream } from "./make.ts";
import { calls, end, grow, open, says, start } from "./wire.ts";

describe("endings", () => {
  const decode = async (frames: AsyncIterable<Frame>) => {
    const events: ChatEvent[] = [];
    const error = await failure(async () => {
      for await (const event of upstream.decodeStream(frames, makeCall())) events.push(event);
    });
    return { error, types: events.map(({ type }) => type) };
  };

  test("cut in mid-text or mid-arguments it throws, and ends nothing", async () => {
    for (const events of [
      [],
      [start()],
      [start(), ...says(0, "a").slice(0, 2)],
      [start(), ...says(0, "a")],
      [start(), ...calls(0, "f", '{"a"').slice(0, 2)],
    ]) {
      const { error, types } = await decode(fromList(framesOf(events)));
      expect(error).toMatchObject({ kind: "upstream", code: "stream_incomplete" });
      expect(types).not.toContain("message-end");
    }
  });

  test("cut behind the reason it is whole, whether it just stops or breaks", async () => {
    const frames = framesOf([start(), ...says(0, "a"), ...end().slice(0, 1)]);
    async function* broken(): AsyncGenerator<Frame> {
      yield* frames;
      throw new Error("reset");
    }
    for (const source of [fromList(frames), broken()]) {
      const events = await toList(upstream.decodeStream(source, makeCall()));
      expect(events.at(-1)).toMatchObject({ type: "message-end", reason: { kind: "stop" } });
    }
  });

  test("a connection that breaks before it throws what broke it", async () => {
    async function* broken(): AsyncGenerator<Frame> {
      yield* framesOf([start()]);
      throw new Error("reset");
    }
    await expect(toList(upstream.decodeStream(broken(), makeCall()))).rejects.toThrow("reset");
  });

  test("behind message_stop nothing is read, and the source is let go", async () => {
    let released = false;
    async function* silent(): AsyncGenerator<Frame> {
      try {
        yield* framesOf([start(), ...says(0, "a"), ...end()]);
        throw new Error("read on");
      } finally {
        released = true;
      }
    }
    expect((await toList(upstream.decodeStream(silent(), makeCall()))).at(-1)!.type).toBe("message-end");
    expect(released).toBe(true);
  });

  test("an error event ends it, also behind the reason", async () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    for (const events of [
      [start(), ...says(0, "a"), error],
      [start(), ...end().slice(0, 1), error],
    ])
      expect((await decode(fromList(framesOf(events)))).error).toMatchObject({ kind: "overloaded" });
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
    test(`mangled: ${name}`, async () => {
      const { error, types } = await decode(fromList(frames));
      expect(error).toMatchObject({ kind: "upstream", code: "upstream_invalid_answer" });
      expect(types).not.toContain("message-end");
    });
});
