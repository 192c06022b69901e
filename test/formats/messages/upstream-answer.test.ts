import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Frame } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { framesOf, requestContext, read, writeAnswer, readFrames, readBody } from "./make.ts";
import { calls, close, end, grow, open, says, start, thinks } from "./wire.ts";

const decodeJson = (body: JsonObject, call = requestContext()): ChatEvent[] => readBody(body, call);

describe("streams", () => {
  test("every kind of block, in order, with the reason and the totals", () => {
    const events = read([
      start(),
      { type: "ping" },
      ...thinks(0, "SIG", "th", "ink"),
      open(1, { type: "redacted_thinking", data: "RED" }),
      close(1),
      ...says(2, "hel", "lo"),
      ...calls(3, "f", '{"a":', "1}"),
      ...calls(4, "g"),
      ...end("tool_use"),
    ]);
    expect(events).toEqual([
      {
        type: "message-start",
        id: "msg_1",
        model: "claude-x",
        usage: { input: 9, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, known: "partial" },
      },
      { type: "block-start", index: 0, block: { type: "reasoning", origin: "anthropic" } },
      { type: "block-delta", index: 0, delta: "th" },
      { type: "block-delta", index: 0, delta: "ink" },
      { type: "block-end", index: 0, signature: "SIG" },
      { type: "block-start", index: 1, block: { type: "reasoning", redacted: "RED", origin: "anthropic" } },
      { type: "block-end", index: 1 },
      { type: "block-start", index: 2, block: { type: "text" } },
      { type: "block-delta", index: 2, delta: "hel" },
      { type: "block-delta", index: 2, delta: "lo" },
      { type: "block-end", index: 2 },
      { type: "block-start", index: 3, block: { type: "tool-call", id: "t3", name: "f", kind: "function" } },
      { type: "block-delta", index: 3, delta: '{"a":' },
      { type: "block-delta", index: 3, delta: "1}" },
      { type: "block-end", index: 3 },
      { type: "block-start", index: 4, block: { type: "tool-call", id: "t4", name: "g", kind: "function" } },
      { type: "block-end", index: 4 },
      {
        type: "usage",
        usage: { input: 9, cacheRead: 0, cacheWrite: 0, output: 16, reasoning: 0, known: "final" },
      },
      {
        type: "message-end",
        reason: { kind: "tool-calls", raw: "tool_use" },
        usage: { input: 9, cacheRead: 0, cacheWrite: 0, output: 16, reasoning: 0, known: "final" },
      },
    ]);
  });

  test("text and input that come with the start count; an input that comes twice counts once", async () => {
    const pieces = (events: JsonObject[]) =>
      read([start(), ...events, ...end()]).flatMap((event) =>
        event.type === "block-delta" ? [event.delta] : [],
      );
    expect(await pieces([open(0, { type: "text", text: "a" }), close(0)])).toEqual(["a"]);
    const whole = open(0, { type: "tool_use", id: "t", name: "f", input: { a: 1 } });
    expect(await pieces([whole, close(0)])).toEqual(['{"a":1}']);
    expect(
      await pieces([whole, grow(0, { type: "input_json_delta", partial_json: '{"a":1}' }), close(0)]),
    ).toEqual(['{"a":1}']);
  });

  test("display omitted, only a signature", () => {
    expect(read([start(), ...thinks(0, "SIG"), ...end()]).slice(1, 3)).toEqual([
      { type: "block-start", index: 0, block: { type: "reasoning", origin: "anthropic" } },
      { type: "block-end", index: 0, signature: "SIG" },
    ]);
  });

  test("of several signatures the last one counts; a host of another vendor signs in its own name", () => {
    const twice = [
      open(0, { type: "thinking", thinking: "" }),
      grow(0, { type: "signature_delta", signature: "A" }),
      grow(0, { type: "signature_delta", signature: "B" }),
      close(0),
    ];
    const events = read(
      [start(), ...twice, ...end()],
      requestContext({ model: "kimi-k3", provider: "moonshot" }),
    );
    expect(events[1]).toMatchObject({ block: { origin: "moonshot" } });
    expect(events[2]).toMatchObject({ signature: "B" });
  });

  test("what was found on the web is a citation, other citations have no address", () => {
    const events = read([
      start(),
      open(0, { type: "text", text: "" }),
      grow(0, { type: "text_delta", text: "x" }),
      grow(0, {
        type: "citations_delta",
        citation: { type: "web_search_result_location", url: "u", title: "t", cited_text: "c" },
      }),
      grow(0, { type: "citations_delta", citation: { type: "char_location", cited_text: "c" } }),
      close(0),
      ...end(),
    ]);
    expect(events.filter(({ type }) => type === "citation")).toEqual([
      { type: "citation", index: 0, citation: { url: "u", title: "t", text: "c" } },
    ]);
  });

  test("server tools are foreign blocks, whole, in their place", () => {
    const events = read([
      start(),
      open(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
      grow(0, { type: "input_json_delta", partial_json: '{"query":"q"}' }),
      close(0),
      open(1, { type: "web_search_tool_result", tool_use_id: "s", content: [] }),
      close(1),
      ...says(2, "done"),
      ...end(),
    ]);
    const starts = events.flatMap((event) => (event.type === "block-start" ? [event] : []));
    expect(starts.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(starts[0]!.block).toEqual({
      type: "foreign",
      format: "messages",
      value: { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } },
    });
  });

  test("calls of the vendor's own code execution are foreign blocks, and may or may not stop the answer", () => {
    const value = {
      type: "tool_use",
      id: "t",
      name: "f",
      input: {},
      caller: { type: "code_execution_20260521", tool_id: "s" },
    };
    const made = [open(0, value), grow(0, { type: "input_json_delta", partial_json: '{"a":1}' }), close(0)];
    for (const raw of ["tool_use", "end_turn"]) {
      const events = read([start(), ...made, ...end(raw)]);
      expect(events[1]).toMatchObject({ block: { type: "foreign", value: { ...value, input: { a: 1 } } } });
      const message = writeAnswer(events, requestContext({ format: "messages" }));
      expect(message).toMatchObject({ stop_reason: raw, content: [{ ...value, input: { a: 1 } }] });
    }
  });

  test("event and delta types nobody knows pass by", () => {
    const events = read([
      { type: "future_event" },
      start(),
      open(0, { type: "text", text: "" }),
      grow(0, { type: "hologram_delta", hologram: "x" }),
      grow(0, { type: "text_delta", text: "a" }),
      { type: "future_event", index: 0 },
      close(0),
      ...end(),
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      "message-start",
      "block-start",
      "block-delta",
      "block-end",
      "usage",
      "message-end",
    ]);
  });

  test("a text block whose start is missing is a text block all the same", () => {
    const events = read([start(), grow(0, { type: "text_delta", text: "a" }), close(0), ...end()]);
    expect(events.slice(1, 4)).toEqual([
      { type: "block-start", index: 0, block: { type: "text" } },
      { type: "block-delta", index: 0, delta: "a" },
      { type: "block-end", index: 0 },
    ]);
  });

  test("a missing end is the next start; ids that are missing or come twice are made", () => {
    const call = (index: number, id: string) => open(index, { type: "tool_use", id, name: "f", input: {} });
    const events = read([
      start(),
      ...says(0, "a").slice(0, 2),
      call(1, "x"),
      call(2, "x"),
      call(3, ""),
      ...says(4, "b"),
      ...end(),
    ]);
    expect(events.map(({ type }) => type).slice(1, 5)).toEqual([
      "block-start",
      "block-delta",
      "block-end",
      "block-start",
    ]);
    const ids = events.flatMap((event) =>
      event.type === "block-start" && event.block.type === "tool-call" ? [event.block.id] : [],
    );
    expect(ids[0]).toBe("x");
    expect(new Set(ids).size).toBe(3);
  });

  test("records without an event name, empty ones, and [DONE] do not disturb", () => {
    const frames: Frame[] = [
      { event: "ping", data: "" },
      ...framesOf([start(), ...says(0, "a"), ...end()]).map(({ data }) => ({ data })),
      { data: "[DONE]" },
    ];
    const events = readFrames(frames, requestContext());
    expect(events.at(-1)!.type).toBe("message-end");
  });
});

describe("a stop reason becomes the canonical reason", () => {
  const REASONS: [string, string][] = [
    ["end_turn", "stop"],
    ["stop_sequence", "stop-sequence"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content-filter"],
    ["pause_turn", "pause"],
    ["compaction", "stop"],
    ["brand_new", "length"],
  ];
  for (const [raw, kind] of REASONS)
    test(`${raw} is ${kind}`, () => {
      const last = read([
        start(),
        ...says(0, "a"),
        ...end(raw, { stop_sequence: raw === "stop_sequence" ? "END" : null }),
      ]).at(-1);
      expect(last).toMatchObject({
        reason: { kind, raw, ...(raw === "stop_sequence" && { stopSequence: "END" }) },
      });
    });

  test("a refusal explains itself", () => {
    const details = { stop_details: { type: "refusal", category: "cyber", explanation: "no" } };
    expect(read([start(), ...end("refusal", details)]).at(-1)).toMatchObject({
      reason: { explanation: "no" },
    });
  });

  test("tool_use without a call is a plain end", () => {
    expect(read([start(), ...end("tool_use")]).at(-1)).toMatchObject({
      reason: { kind: "stop", raw: "tool_use" },
    });
  });
});

describe("usage", () => {
  test("totals replace, nulls say nothing, thinking is counted", () => {
    const usage = {
      input_tokens: null,
      cache_read_input_tokens: 317,
      cache_creation_input_tokens: 4425,
      output_tokens: 16,
      output_tokens_details: { thinking_tokens: 4 },
    };
    const last = read([start({ input_tokens: 9, output_tokens: 1 }), ...end("end_turn", {}, usage)]).at(-1);
    expect(last).toMatchObject({
      usage: { input: 9, cacheRead: 317, cacheWrite: 4425, output: 16, reasoning: 4 },
    });
  });
});

describe("JSON answers", () => {
  test("the same events as the stream it could have been", () => {
    const body: JsonObject = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [
        { type: "thinking", thinking: "t", signature: "SIG" },
        { type: "text", text: "hello", citations: null },
        { type: "tool_use", id: "t2", name: "f", input: { a: 1 } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 16 },
    };
    const streamed = read([
      start({ input_tokens: 9, output_tokens: 16 }),
      ...thinks(0, "SIG", "t"),
      ...says(1, "hello"),
      ...calls(2, "f", '{"a":1}'),
      ...end("tool_use"),
    ]);
    expect(decodeJson(body)).toEqual(streamed);
  });

  test("that very body", () => {
    const body = {
      id: "m",
      type: "message",
      content: [],
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    expect(decodeJson(body).map(({ type }) => type)).toEqual(["message-start", "usage", "message-end"]);
  });

  test("an answer without a reason ends by what it holds", () => {
    const body = (content: JsonObject[]) => ({ type: "message", content, stop_reason: null, usage: {} });
    expect(decodeJson(body([])).at(-1)).toMatchObject({ reason: { kind: "stop" } });
    expect(decodeJson(body([{ type: "tool_use", id: "t", name: "f", input: {} }])).at(-1)).toMatchObject({
      reason: { kind: "tool-calls" },
    });
  });
});
