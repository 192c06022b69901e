import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  answer,
  client,
  dataOf,
  failure,
  makeRequest,
  reasoning,
  stream,
  text,
  tool,
  USAGE,
  writeAnswer,
} from "./make.ts";
import { accumulate } from "./sdk.ts";
import { content, own, sketch } from "./sketch.ts";

describe("the shape of a stream", () => {
  const events = answer(
    [...reasoning(0, ["A"]), ...text(1, "B"), ...tool(2, "f", ['{"x":', "1}"]), ...tool(3, "g", ["{}"])],
    { kind: "tool-calls" },
  );

  test("each record has the event name of its type, and only documented ones are sent", () => {
    const known = [
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ];
    const frames = stream(events, own());
    for (const frame of frames) {
      expect(frame.event!).toBe(String((JSON.parse(frame.data) as JsonObject).type));
      expect(known).toContain(frame.event!);
    }
    expect(frames.at(-1)!.event).toBe("message_stop");
  });

  test("usage in start and delta, the reason only in the delta", () => {
    const data = dataOf(stream(events, own()));
    const start = data[0]!.message as JsonObject;
    const delta = data.at(-2)!;
    expect(start.stop_reason).toBeNull();
    expect(start.usage).toMatchObject({ output_tokens: 1 });
    expect(delta.delta).toMatchObject({ stop_reason: "tool_use", stop_sequence: null });
    expect(delta.usage).toEqual({
      input_tokens: 9,
      cache_creation_input_tokens: 4425,
      cache_read_input_tokens: 317,
      output_tokens: 16,
      output_tokens_details: null,
    });
  });

  test("the first usage is what the upstream said, else an estimate of the prompt", async () => {
    const known = [{ ...events[0]!, usage: USAGE } as ChatEvent, ...events.slice(1)];
    const startUsage = (list: ChatEvent[]) => {
      const call = own({
        request: makeRequest({
          turns: [{ role: "user", blocks: [{ type: "text", text: "word ".repeat(100) }] }],
        }),
      });
      return (dataOf(stream(list, call))[0]!.message as JsonObject).usage as JsonObject;
    };
    expect((await startUsage(known)).input_tokens).toBe(9);
    expect((await startUsage(events)).input_tokens).toBeWithin(90, 130);
  });

  test("the id is derived when it is not of this format, and the model is the one the client named", () => {
    const start = dataOf(stream(events, own()))[0]!.message as JsonObject;
    expect(start.id).toMatch(/^msg_[0-9a-f]{24}$/);
    expect(start.model).toBe("deepseek-chat");
    const kept = writeAnswer(
      [{ type: "message-start", id: "msg_01AB", model: "x" }, ...events.slice(1)],
      own(),
    );
    expect(kept.id).toBe("msg_01AB");
  });

  test("the worked example: reasoning, text, two overlapping calls", () => {
    const overlapping: ChatEvent[] = [
      ...reasoning(0, ["A"]),
      ...text(1, "B"),
      { type: "block-start", index: 2, block: { type: "tool-call", id: "c2", name: "f", kind: "function" } },
      { type: "block-delta", index: 2, delta: '{"x":' },
      { type: "block-start", index: 3, block: { type: "tool-call", id: "c3", name: "g", kind: "function" } },
      { type: "block-delta", index: 3, delta: "{}" },
      { type: "block-delta", index: 2, delta: "1}" },
      { type: "block-end", index: 2 },
      { type: "block-end", index: 3 },
    ];
    expect(sketch(answer(overlapping, { kind: "tool-calls" }))).toEqual([
      "message_start",
      "content_block_start 0 thinking",
      "content_block_delta 0 A",
      "content_block_delta 0",
      "content_block_stop 0",
      "content_block_start 1 text",
      "content_block_delta 1 B",
      "content_block_stop 1",
      "content_block_start 2 tool_use",
      'content_block_delta 2 {"x":',
      "content_block_delta 2 1}",
      "content_block_stop 2",
      "content_block_start 3 tool_use",
      "content_block_delta 3 {}",
      "content_block_stop 3",
      "message_delta tool_use",
      "message_stop",
    ]);
  });

  test("streamed and buffered answers are the same message in the SDK", async () => {
    const buffered = writeAnswer(events, own({ request: makeRequest() }));
    const streamed = await accumulate(stream(events, own({ request: makeRequest() })));
    expect({ ...streamed, parsed_output: undefined } as unknown).toEqual({
      ...buffered,
      _request_id: streamed._request_id,
      parsed_output: undefined,
    });
  });

  test("pings in front of and between the records do not disturb the SDK", async () => {
    const message = await accumulate(
      stream(events, own()),
      client.codec.framing.heartbeat + client.codec.framing.heartbeat,
    );
    expect(content(message)).toHaveLength(4);
    expect(client.codec.framing.heartbeat).toBe('event: ping\ndata: {"type": "ping"}\n\n');
  });
});

describe("arguments", () => {
  const one = (pieces: string[], kind: "tool-calls" | "length" = "tool-calls") =>
    answer(tool(0, "f", pieces), { kind });
  const inputOf = (pieces: string[]) => content(writeAnswer(one(pieces), own()))[0]!.input;

  test("none, blank, and an object", () => {
    expect(inputOf([])).toEqual({});
    expect(inputOf([" "])).toEqual({});
    expect(inputOf(['{"a":', "[1]}"])).toEqual({ a: [1] });
  });

  test("what is no object is wrapped, what is no JSON is repaired or kept, and both are told", () => {
    expect(inputOf(["[1]"])).toEqual({ value: [1] });
    expect(inputOf(['{"a":"b'])).toEqual({ a: "b" });
    expect(inputOf(['{"a":[1,2'])).toEqual({ a: [1, 2] });
    expect(inputOf(['{"a":1,'])).toEqual({ a: 1 });
    expect(inputOf(['{"a":'])).toEqual({ a: null });
    expect(inputOf(["nonsense"])).toEqual({ __invalid_json: "nonsense" });
    const call = own();
    writeAnswer(one(["nonsense"]), call);
    expect(call.losses).toMatchObject([{ code: "repaired", path: "content[0].input" }]);
  });

  test("cut off by the limit, the call is dropped and the reason is the limit", async () => {
    const message = writeAnswer(one(['{"a":"b'], "length"), own());
    expect(message.content).toEqual([]);
    expect(message.stop_reason).toBe("max_tokens");
    const streamed = await accumulate(stream(one(['{"a":"b'], "length"), own()));
    expect(streamed.stop_reason).toBe("max_tokens");
  });

  test("broken without the limit, a stream ends in an error and not in message_stop", async () => {
    const frames: (string | undefined)[] = [];
    const writer = client.codec.writeStream(own());
    const error = await failure(() => {
      for (const event of one(['{"a":"b'])) frames.push(...writer.push(event).map(({ event }) => event));
    });
    expect(error).toMatchObject({ kind: "upstream", code: "invalid_tool_arguments" });
    expect(frames).not.toContain("message_stop");
    expect(frames).not.toContain("message_delta");
  });
});

describe("the stop reason says why the answer ended", () => {
  const reasonOf = (blocks: ChatEvent[], reason: Parameters<typeof answer>[1]) => {
    const { stop_reason, stop_sequence, stop_details } = writeAnswer(answer(blocks, reason), own());
    return { stop_reason, stop_sequence, stop_details };
  };
  const plain = (stop_reason: string) => ({ stop_reason, stop_sequence: null, stop_details: null });

  test("each kind has its word", () => {
    expect(reasonOf(text(0, "a"), { kind: "stop" })).toEqual(plain("end_turn"));
    expect(reasonOf(text(0, "a"), { kind: "length" })).toEqual(plain("max_tokens"));
    expect(reasonOf(text(0, "a"), { kind: "pause" })).toEqual(plain("pause_turn"));
    expect(reasonOf(tool(0, "f", []), { kind: "tool-calls" })).toEqual(plain("tool_use"));
  });

  test("the text that ended it is reported", () => {
    expect(reasonOf(text(0, "a"), { kind: "stop-sequence", stopSequence: "END" })).toEqual({
      ...plain("stop_sequence"),
      stop_sequence: "END",
    });
  });

  test("a call in the answer means tool_use, whatever the upstream says, except the limit", () => {
    for (const kind of ["stop", "stop-sequence", "content-filter", "pause"] as const)
      expect(reasonOf(tool(0, "f", []), { kind })).toEqual(plain("tool_use"));
    expect(reasonOf(tool(0, "f", ["{}"]), { kind: "length" })).toEqual(plain("max_tokens"));
    expect(reasonOf(text(0, "a"), { kind: "tool-calls" })).toEqual(plain("end_turn"));
  });

  test("the format's own word is kept when it says the same", () => {
    expect(reasonOf(text(0, "a"), { kind: "length", raw: "model_context_window_exceeded" })).toEqual(
      plain("model_context_window_exceeded"),
    );
    expect(reasonOf(text(0, "a"), { kind: "length", raw: "length" })).toEqual(plain("max_tokens"));
  });

  test("refusals: the explanation, the refusal's text, or none; its text is content when there is no other", () => {
    const details = (explanation: string | null) => ({
      stop_reason: "refusal",
      stop_sequence: null,
      stop_details: { type: "refusal", category: null, explanation },
    });
    const refusal: ChatEvent[] = [
      { type: "block-start", index: 0, block: { type: "refusal" } },
      { type: "block-delta", index: 0, delta: "I cannot." },
      { type: "block-end", index: 0 },
    ];
    expect(reasonOf([], { kind: "content-filter", explanation: "bio" })).toEqual(details("bio"));
    expect(reasonOf([], { kind: "content-filter" })).toEqual(details(null));
    expect(reasonOf(refusal, { kind: "stop" })).toEqual(details("I cannot."));
    expect(content(writeAnswer(answer(refusal), own()))).toEqual([{ type: "text", text: "I cannot." }]);
    const behind = answer([
      ...text(0, "Hm."),
      ...refusal.map((event) => ({ ...event, index: 1 }) as ChatEvent),
    ]);
    expect(content(writeAnswer(behind, own()))).toEqual([{ type: "text", text: "Hm." }]);
  });

  test("nothing at all is an empty answer", () => {
    expect(writeAnswer(answer([]), own())).toMatchObject({ content: [], ...plain("end_turn") });
  });
});

describe("usage", () => {
  test("disjoint buckets, thinking beside", () => {
    const usage = { ...USAGE, reasoning: 5 };
    expect(writeAnswer(answer(text(0, "a"), { kind: "stop" }, usage), own()).usage).toMatchObject({
      input_tokens: 9,
      cache_creation_input_tokens: 4425,
      cache_read_input_tokens: 317,
      output_tokens: 16,
      output_tokens_details: { thinking_tokens: 5 },
    });
  });

  test("what the SDK shows at the end of a stream is what was metered", async () => {
    const message = await accumulate(stream(answer(text(0, "a")), own()));
    expect(message.usage).toMatchObject({
      input_tokens: 9,
      output_tokens: 16,
      cache_read_input_tokens: 317,
      cache_creation_input_tokens: 4425,
    });
  });
});

describe("endings", () => {
  test("events that stop without message-end are an error, streamed and whole", async () => {
    const cut = answer(text(0, "a")).slice(0, -1);
    expect(await failure(() => stream(cut, own()))).toMatchObject({
      kind: "upstream",
      code: "stream_incomplete",
    });
    expect(await failure(() => writeAnswer(cut, own()))).toMatchObject({ code: "stream_incomplete" });
  });

  test("message_stop comes at the end only, behind the stop reason", () => {
    const writer = client.codec.writeStream(own());
    const written = answer(text(0, "a")).flatMap((event) => writer.push(event));
    expect(written.at(-1)!.event).toBe("message_delta");
    expect(writer.end().map(({ event }) => event)).toEqual(["message_stop"]);
  });
});
