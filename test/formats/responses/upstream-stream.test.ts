/** Streams of a responses provider become canonical events. */
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { ask, readBody, readEvents, readFrames, told } from "./upstream.ts";

const created = { type: "response.created", response: { id: "resp_1", model: "gpt-5.4", output: [] } };
const completed = (output: JsonObject[] = [], more: JsonObject = {}): JsonObject => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", output, ...more },
});
const added = (index: number, item: JsonObject) => ({
  type: "response.output_item.added",
  output_index: index,
  item,
});
const done = (index: number, item: JsonObject) => ({
  type: "response.output_item.done",
  output_index: index,
  item,
});
const delta = (kind: string, index: number, text: string, more: JsonObject = {}) => ({
  type: `response.${kind}.delta`,
  output_index: index,
  delta: text,
  ...more,
});
const message = (...texts: string[]) => ({
  type: "message",
  role: "assistant",
  content: texts.map((text) => ({ type: "output_text", text, annotations: [] })),
});
const call = (name: string, args: string, more: JsonObject = {}) => ({
  type: "function_call",
  call_id: `call_${name}`,
  name,
  arguments: args,
  ...more,
});
const text = (words: string, index = 0) => [
  added(index, { type: "message", content: [] }),
  delta("output_text", index, words),
  done(index, message(words)),
];

function caught(run: () => unknown): GatewayError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error("Nothing was thrown.");
}

describe("items", () => {
  test("ids that change with each event lose nothing", () => {
    const events = [created, ...text("one two")].map((event, index) => ({
      ...event,
      item_id: `msg_${index}`,
      ...("item" in event && { item: { ...event.item, id: `msg_${index}` } }),
    }));
    expect(told(readEvents([...events, completed()]))).toEqual(["text: one two"]);
  });

  test("a terminal event with an empty output loses nothing", () => {
    const events = readEvents([created, ...text("kept"), completed([])]);
    expect(told(events)).toEqual(["text: kept"]);
  });

  test("without an index are told apart by their ids, and by what is done, and none is lost", () => {
    const unnumbered = ({ output_index: _, ...event }: ReturnType<typeof done>) => event;
    const [f, g] = [call("f", '{"a":1}'), call("g", '{"a":1}')];
    const [said, toldF, toldG] = [
      "text: hi",
      ...["f", "g"].map((name) => `tool-call: call_${name} ${name} function: {"a":1}`),
    ];
    const streams = [
      [
        [done(0, message("hi")), done(1, f), done(2, g)],
        [said, toldF, toldG],
      ],
      [
        [added(0, { ...f, arguments: "" }), done(0, f), done(1, message("hi"))],
        [toldF, said],
      ],
      [[added(0, { ...f, arguments: "" }), done(0, message("hi"))], [said]],
      [
        [
          ...[added(0, { ...f, id: "1", arguments: "" }), added(1, { ...g, id: "2", arguments: "" })],
          ...[done(0, { ...f, id: "1" }), done(1, { ...g, id: "2" })],
        ],
        [toldF, toldG],
      ],
    ] as const;
    for (const [events, items] of streams)
      expect(told(readEvents([created, ...events.map(unnumbered), completed()]))).toEqual(
        expect.arrayContaining([...items] as string[]),
      );
  });

  test("a stream without any event of an item is read from its terminal event", () => {
    expect(told(readEvents([created, completed([message("whole"), call("look", "{}")])]))).toEqual([
      "text: whole",
      "tool-call: call_look look function: {}",
    ]);
  });

  test("a stream without done events is complete, and its deltas count once", () => {
    const events = [
      created,
      added(0, { type: "message", content: [] }),
      delta("output_text", 0, "he"),
      delta("output_text", 0, "llo"),
      completed([message("hello")]),
    ];
    expect(told(readEvents(events))).toEqual(["text: hello"]);
  });

  test("a done event brings what the deltas lacked", () => {
    const events = [created, added(0, message()), delta("output_text", 0, "he"), done(0, message("hello"))];
    expect(told(readEvents([...events, completed()]))).toEqual(["text: hello"]);
  });

  test("positions that begin with 1 name the same parts", () => {
    const events = [
      created,
      added(1, { type: "message", content: [] }),
      delta("output_text", 1, "a", { content_index: 1 }),
      delta("output_text", 1, "b", { content_index: 2 }),
      done(1, message("a", "b")),
    ];
    expect(told(readEvents([...events, completed([message("a", "b")])]))).toEqual(["text: a", "text: b"]);
  });

  test("an item between a call's fragments waits, and two calls side by side do not", () => {
    const events = [
      created,
      added(0, call("one", "")),
      delta("function_call_arguments", 0, '{"a":'),
      added(1, call("two", "")),
      delta("function_call_arguments", 1, '{"b":'),
      added(2, message()),
      delta("output_text", 2, "later"),
      delta("function_call_arguments", 1, "2}"),
      delta("function_call_arguments", 0, "1}"),
      done(0, call("one", '{"a":1}')),
      done(1, call("two", '{"b":2}')),
      done(2, message("later")),
    ];
    expect(told(readEvents([...events, completed()]))).toEqual([
      'tool-call: call_one one function: {"a":1}',
      'tool-call: call_two two function: {"b":2}',
      "text: later",
    ]);
  });

  test("two messages of one answer stay two blocks, of which the second stands apart", () => {
    const events = readEvents([
      created,
      added(0, { ...message(), phase: "commentary" }),
      delta("output_text", 0, "I look."),
      done(0, message("I look.")),
      ...text("Found.", 1),
      completed(),
    ]);
    expect(told(events)).toEqual(["text: commentary: I look.", "text: true: Found."]);
  });

  test("items that only this format knows reach its own clients only", () => {
    const events = [created, done(0, { type: "web_search_call", id: "ws_1" }), ...text("so", 1), completed()];
    expect(told(readEvents(events))).toEqual(["text: so"]);
    expect(told(readEvents(events, { sameFormat: true }))).toEqual([
      "foreign: responses [object Object]",
      "text: so",
    ]);
  });
});

describe("reasoning", () => {
  test("the parts of a summary are numbered and stand apart, and the encrypted reasoning comes last", () => {
    const events = readEvents([
      created,
      added(0, { type: "reasoning", summary: [], encrypted_content: "unfinished" }),
      delta("reasoning_summary_text", 0, "first", { summary_index: 0 }),
      delta("reasoning_summary_text", 0, "second", { summary_index: 1 }),
      done(0, {
        type: "reasoning",
        summary: [
          { type: "summary_text", text: "first" },
          { type: "summary_text", text: "second" },
        ],
        encrypted_content: "sealed",
      }),
      completed(),
    ]);
    expect(told(events)).toEqual(["reasoning: openai sealed sealed: first\n\nsecond"]);
    expect(events.flatMap((event) => (event.type === "block-delta" ? [event.part ?? 0] : []))).toEqual([
      0, 1,
    ]);
  });

  test("reasoning without text keeps its encrypted form", () => {
    expect(
      told(
        readBody({
          status: "completed",
          output: [{ type: "reasoning", summary: [], encrypted_content: "x" }],
        }),
      ),
    ).toEqual(["reasoning: openai sealed x"]);
  });

  test("open reasoning is read whether a part was announced or not", () => {
    const events = [created, delta("reasoning_text", 0, "hm"), done(0, { type: "reasoning", content: [] })];
    expect(told(readEvents([...events, completed()]))).toEqual(["reasoning: openai: hm"]);
  });
});

describe("calls", () => {
  test("a custom tool's call is text", () => {
    const item = { type: "custom_tool_call", call_id: "call_1", name: "patch", input: "*** Begin" };
    const events = [
      created,
      added(0, { ...item, input: "" }),
      delta("custom_tool_call_input", 0, "*** Be"),
      delta("custom_tool_call_input", 0, "gin"),
      done(0, item),
      completed(),
    ];
    expect(told(readEvents(events))).toEqual(["tool-call: call_1 patch custom: *** Begin"]);
  });

  test("the text of a custom tool that went out as a function is unwrapped", () => {
    const request = ask({ tools: [{ kind: "custom", name: "patch" }] });
    const events = [
      created,
      added(0, call("patch", "")),
      delta("function_call_arguments", 0, '{"input":"a\\'),
      delta("function_call_arguments", 0, 'nb"}'),
      done(0, call("patch", '{"input":"a\\nb"}')),
      completed(),
    ];
    expect(told(readEvents(events, { request }))).toEqual(["tool-call: call_patch patch custom: a\nb"]);
  });

  test("a name that arrives after its arguments is not lost", () => {
    const events = [
      created,
      added(0, { type: "function_call", call_id: "call_late", arguments: "" }),
      delta("function_call_arguments", 0, "{}"),
      done(0, call("late", "{}")),
      completed(),
    ];
    expect(told(readEvents(events))).toEqual(["tool-call: call_late late function: {}"]);
  });

  test("a tool in a namespace has the joined name", () => {
    const output = [call("look", "{}", { namespace: "files" })];
    expect(told(readBody({ status: "completed", output }))).toEqual([
      "tool-call: call_look files__look function: {}",
    ]);
  });

  test("arguments that are not JSON fail the answer", () => {
    const events = [
      created,
      added(0, call("x", "")),
      delta("function_call_arguments", 0, '{"a'),
      completed(),
    ];
    expect(caught(() => readEvents(events)).code).toBe("invalid_tool_arguments");
  });
});

describe("endings", () => {
  const reasonOf = (event: JsonObject) => {
    const end = readEvents([created, ...text("so"), event]).at(-1);
    return end?.type === "message-end" ? end.reason : undefined;
  };
  const incomplete = (reason?: string) => ({
    type: "response.incomplete",
    response: { status: "incomplete", ...(reason && { incomplete_details: { reason } }) },
  });

  test("each way to end has its reason", () => {
    expect(reasonOf(completed())).toEqual({ kind: "stop", raw: "completed" });
    expect(reasonOf(completed([message("so"), call("x", "{}")]))?.kind).toBe("tool-calls");
    expect(reasonOf(incomplete("max_output_tokens"))).toEqual({ kind: "length", raw: "max_output_tokens" });
    expect(reasonOf(incomplete("content_filter"))?.kind).toBe("content-filter");
    expect(reasonOf(incomplete())?.kind).toBe("length");
  });

  test("a refusal ends as one", () => {
    const output = [{ type: "message", content: [{ type: "refusal", refusal: "No." }] }];
    const events = readBody({ status: "completed", output });
    expect(told(events)).toEqual(["refusal: No."]);
    expect(events.at(-1)).toMatchObject({ reason: { kind: "content-filter" } });
  });

  test("a stream without a terminal event is not complete", () => {
    expect(caught(() => readEvents([created, ...text("so")])).code).toBe("stream_incomplete");
  });

  test("an error event is the same error, flat and nested, and so is a failed response", () => {
    const error = { code: "rate_limit_exceeded", message: "Slow down." };
    for (const event of [
      { type: "error", ...error, param: null },
      { type: "error", error: { type: "x", ...error } },
      { error },
      { type: "response.failed", response: { status: "failed", error } },
    ]) {
      const { kind, message: sentence } = caught(() => readEvents([created, event]));
      expect([kind, sentence]).toEqual(["rate-limited", "Slow down."]);
    }
  });

  test("[DONE], comments and unknown events are ignored", () => {
    const frames = [
      { data: JSON.stringify(created) },
      { data: JSON.stringify({ type: "response.some_future_event" }) },
      { data: JSON.stringify(delta("output_text", 0, "so")) },
      { data: "[DONE]" },
      { data: JSON.stringify(completed()) },
    ];
    expect(told(readFrames(frames))).toEqual(["text: so"]);
  });

  test("a JSON answer that is not ready or no answer is an error", () => {
    for (const body of [
      { status: "queued", output: [] },
      { status: "completed" },
      { status: "failed", output: [], error: { message: "No." } },
      { detail: "No." },
    ])
      expect(caught(() => readBody(body)).kind).toBe("upstream");
  });
});

test("cached tokens are taken out of the input", () => {
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 120,
  };
  expect(readBody({ status: "completed", output: [message("so")], usage }).at(-1)).toMatchObject({
    usage: { input: 30, cacheRead: 60, cacheWrite: 10, output: 20, reasoning: 5, known: "final" },
  });
});

test("a citation belongs to its text, and comes once", () => {
  const annotation = { type: "url_citation", url: "https://example.com", title: "Example" };
  const content = [{ type: "output_text", text: "so", annotations: [annotation] }];
  const events = readEvents([
    created,
    added(0, message()),
    delta("output_text", 0, "so"),
    { type: "response.output_text.annotation.added", output_index: 0, content_index: 0, annotation },
    done(0, { type: "message", content }),
    completed(),
  ]);
  expect(events.filter(({ type }) => type === "citation")).toEqual([
    { type: "citation", index: 0, citation: { url: "https://example.com", title: "Example" } },
  ]);
});
