import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Frame } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { unpackMembers } from "../../../src/formats/chat-completions/reasoning.ts";
import { checkEvents } from "../../helpers/describe-events.ts";
import { framesOf, chunk, DONE, failure, read, sketch, upstream, readFrames } from "./make.ts";
import { calls, begin, more, finish, said, lines } from "./fragments.ts";

describe("blocks", () => {
  test("the worked example: reasoning, text, two calls whose fragments interleave", () => {
    const bodies = [
      chunk({ role: "assistant", content: "", reasoning_content: "A" }),
      said("B"),
      calls(begin(0, "call_f", "f", '{"x":')),
      calls(begin(1, "call_g", "g", "{}")),
      calls(more(0, "1}")),
      finish("tool_calls"),
      {
        ...chunk({}),
        choices: [],
        usage: { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 40 } },
      },
    ];
    expect(lines(bodies)).toEqual([
      "start 0 reasoning",
      "delta 0 A",
      "end 0",
      "start 1 text",
      "delta 1 B",
      "end 1",
      "start 2 tool-call f",
      'delta 2 {"x":',
      "start 3 tool-call g",
      "delta 3 {}",
      "delta 2 1}",
      "end 2",
      "end 3",
      "message-end tool-calls",
    ]);
    const events = read(bodies);
    expect(events[0]).toEqual({ type: "message-start", id: "chatcmpl-up", model: "up" });
    expect(events.at(-1)).toMatchObject({ usage: { input: 60, cacheRead: 40, output: 7 } });
  });

  test("text, reasoning, text are three blocks", () => {
    expect(lines([said("a"), chunk({ reasoning: "b" }), said("c"), finish("stop")])).toEqual([
      "start 0 text",
      "delta 0 a",
      "end 0",
      "start 1 reasoning",
      "delta 1 b",
      "end 1",
      "start 2 text",
      "delta 2 c",
      "end 2",
      "message-end stop",
    ]);
  });

  test("text and two calls have indexes 0, 1, 2", () => {
    const bodies = [
      said("a"),
      calls(begin(0, "x", "f", "{}")),
      calls(begin(1, "y", "g", "{}")),
      finish("tool_calls"),
    ];
    expect(lines(bodies).filter((line) => line.startsWith("start"))).toEqual([
      "start 0 text",
      "start 1 tool-call f",
      "start 2 tool-call g",
    ]);
  });

  test("a line break between calls is no text", () => {
    const bodies = [
      calls(begin(0, "x", "f", "{}")),
      said("\n"),
      calls(begin(1, "y", "g", "{}")),
      said(" \n"),
      finish("tool_calls"),
    ];
    expect(lines(bodies).some((line) => line.includes("text"))).toBeFalse();
  });

  test("white space that real text follows is kept", () => {
    expect(lines([said("\n"), said("\n"), said("a"), said("\n"), finish("stop")])).toEqual([
      "start 0 text",
      "delta 0 \n\na",
      "delta 0 \n",
      "end 0",
      "message-end stop",
    ]);
  });

  test("reasoning behind a call is a block of its own", () => {
    const bodies = [
      chunk({ reasoning_content: "a" }),
      calls(begin(0, "x", "f", "{}")),
      chunk({ reasoning_content: "b" }),
      said("c"),
      finish("tool_calls"),
    ];
    expect(lines(bodies).filter((line) => line.startsWith("start"))).toEqual([
      "start 0 reasoning",
      "start 1 tool-call f",
      "start 2 reasoning",
      "start 3 text",
    ]);
  });

  test("text that comes while arguments are incomplete waits for them", () => {
    const bodies = [
      calls(begin(0, "x", "f", '{"a"')),
      said("b"),
      calls(more(0, ":1}")),
      finish("tool_calls"),
    ];
    expect(lines(bodies)).toEqual([
      "start 0 tool-call f",
      'delta 0 {"a"',
      "delta 0 :1}",
      "end 0",
      "start 1 text",
      "delta 1 b",
      "end 1",
      "message-end tool-calls",
    ]);
  });

  test("reasoning and content in one delta are told apart, reasoning first", () => {
    expect(lines([chunk({ content: "c", reasoning_content: "r" }), finish("stop")])).toEqual([
      "start 0 reasoning",
      "delta 0 r",
      "end 0",
      "start 1 text",
      "delta 1 c",
      "end 1",
      "message-end stop",
    ]);
  });

  test("content null is no text, and takes nothing from the end", () => {
    expect(
      lines([
        said("a"),
        chunk({ content: null }),
        chunk({ content: null, tool_calls: null, reasoning: null }, "stop"),
      ]),
    ).toEqual(["start 0 text", "delta 0 a", "end 0", "message-end stop"]);
  });

  test("the same reasoning in two fields is read once", () => {
    const mirrored = {
      reasoning: "r",
      reasoning_content: "r",
      reasoning_details: [{ type: "reasoning.text", text: "r", index: 0 }],
    };
    expect(lines([chunk(mirrored), said("x"), finish("stop")])).toContain("delta 0 r");
    expect(lines([chunk(mirrored), finish("stop")]).filter((line) => line.startsWith("delta"))).toEqual([
      "delta 0 r",
    ]);
    expect(
      lines([chunk({ reasoning_details: [{ type: "reasoning.summary", summary: "s" }] }), finish("stop")]),
    ).toContain("delta 0 s");
  });

  test("reasoning says who made it; a signature ends its block, encrypted reasoning is one", () => {
    const details = (detail: JsonObject) =>
      chunk({ reasoning_details: [{ format: "anthropic-claude-v1", index: 0, ...detail }] });
    const events = read([
      details({ type: "reasoning.text", text: "t" }),
      details({ type: "reasoning.text", signature: "sig" }),
      details({ type: "reasoning.encrypted", data: "enc", id: "r1" }),
      said("x"),
      finish("stop"),
    ]);
    checkEvents(events);
    expect(events[1]).toMatchObject({ block: { type: "reasoning", origin: "vendor" } });
    const end = events[3] as Extract<ChatEvent, { type: "block-end" }>;
    expect(unpackMembers(end.signature!)).toEqual({ signature: "sig", format: "anthropic-claude-v1" });
    const block = (events[4] as Extract<ChatEvent, { type: "block-start" }>).block as { redacted: string };
    expect(unpackMembers(block.redacted)).toEqual({ data: "enc", id: "r1", format: "anthropic-claude-v1" });
  });

  test("Mistral's content as a list: thinking and text", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "t" }] },
      { type: "text", text: "a" },
      "b",
      { type: "reference", reference_ids: [1] },
    ];
    expect(lines([chunk({ content }), finish("stop")])).toEqual([
      "start 0 reasoning",
      "delta 0 t",
      "end 0",
      "start 1 text",
      "delta 1 a",
      "delta 1 b",
      "end 1",
      "message-end stop",
    ]);
  });

  test("a refusal is a block of its own and the reason", () => {
    expect(lines([chunk({ refusal: "I " }), chunk({ refusal: "won't" }), finish("stop")])).toEqual([
      "start 0 refusal",
      "delta 0 I ",
      "delta 0 won't",
      "end 0",
      "message-end content-filter",
    ]);
  });

  test("citations belong to the text they come with", () => {
    const annotations = [
      {
        type: "url_citation",
        url_citation: { url: "https://x.test", title: "T", start_index: 0, end_index: 1 },
      },
    ];
    const cited = { type: "citation", citation: { url: "https://x.test", title: "T" } };
    const events = read([said("a"), chunk({ annotations }), finish("stop")]);
    checkEvents(events);
    expect(events).toContainEqual({ ...cited, index: 0 } as ChatEvent);
    // OpenRouter's web search names its sources before the text, and some models think in between.
    const thought = chunk({ reasoning: "hm" });
    for (const [index, first] of [
      [chunk({ content: "", annotations })],
      [thought, chunk({ annotations })],
    ].entries()) {
      const early = read([...first, said("a"), finish("stop")]);
      checkEvents(early);
      expect(early.filter(({ type }) => type === "citation")).toEqual([{ ...cited, index } as ChatEvent]);
    }
  });

  test("Azure's first chunk without choices, and chunks of nothing, are passed over", () => {
    const filter = { id: "", model: "", choices: [], prompt_filter_results: [{}] };
    const events = read([filter, {}, said("a"), { obfuscation: "xyz", ...finish("stop") }]);
    expect(events[0]).toEqual({ type: "message-start", id: "chatcmpl-up", model: "up" });
  });

  test("an upstream without id and model gets those of the call", () => {
    const events = read([{ choices: [{ delta: { content: "a" }, finish_reason: "stop" }] }]);
    expect(events[0]).toEqual({ type: "message-start", id: "req_test", model: "some-model" });
  });
});

describe("think tags", () => {
  const traits: Traits = { thinkTags: true };
  const whole = "\n<think>\nwhy <b>\n</think>\n\nbecause </think>";

  test("are parted only where a trait says so, wherever they are cut", () => {
    const expected = [
      "start 0 reasoning",
      "delta 0 \nwhy <b>\n",
      "end 0",
      "start 1 text",
      "delta 1 because </think>",
      "end 1",
      "message-end stop",
    ];
    for (const size of [1, 2, 5, whole.length]) {
      const pieces = whole.match(new RegExp(`[\\s\\S]{1,${size}}`, "g"))!;
      expect(joined(lines([...pieces.map(said), finish("stop")], { traits }))).toEqual(expected);
    }
    expect(lines([said(whole), finish("stop")])).toEqual([
      "start 0 text",
      `delta 0 ${whole}`,
      "end 0",
      "message-end stop",
    ]);
  });

  test("text without a tag, and a tag that never closes", () => {
    expect(joined(lines([said("<thi"), said("s is it"), finish("stop")], { traits }))).toContain(
      "delta 0 <this is it",
    );
    expect(joined(lines([said("<think>on and on </th"), finish("length")], { traits }))).toEqual([
      "start 0 reasoning",
      "delta 0 on and on </th",
      "end 0",
      "message-end length",
    ]);
  });

  /** Neighbouring deltas of one block as one line. */
  function joined(all: readonly string[]): string[] {
    const result: string[] = [];
    for (const line of all) {
      const head = /^delta \d+ /.exec(line)?.[0];
      if (head && result.at(-1)?.startsWith(head)) result[result.length - 1] += line.slice(head.length);
      else result.push(line);
    }
    return result;
  }
});

describe("errors in the stream", () => {
  test("an error frame followed by [DONE] is an error", async () => {
    const error = { error: { message: "boom", type: "server_error", code: null } };
    expect(await failure(() => read([said("a"), error]))).toMatchObject({
      kind: "upstream",
      message: "boom",
    });
  });

  const shapes: [what: string, frame: Frame, message: string][] = [
    [
      "named",
      { event: "error", data: '{"error":{"message":"boom","code":"tool_use_failed","status_code":400}}' },
      "boom",
    ],
    ["named, as text", { event: "error", data: "boom" }, "boom"],
    ["a text", { data: '{"error":"boom"}' }, "boom"],
    ["xAI's", { data: '{"code":"invalid-argument","error":"boom"}' }, "boom"],
    ["vLLM's and Mistral's", { data: '{"object":"error","message":"boom","code":40}' }, "boom"],
    ["Doubleword's", { data: '{"code":500,"message":"boom","type":"x"}' }, "boom"],
    ["FastAPI's", { data: '{"detail":"boom"}' }, "boom"],
    [
      "OpenRouter's, beside choices",
      { data: JSON.stringify({ ...chunk({ content: "" }, "error"), error: { code: 502, message: "boom" } }) },
      "boom",
    ],
    [
      "OpenRouter's, in the choice",
      { data: JSON.stringify(chunk({}, "error", { choice: { error: { code: 502, message: "boom" } } })) },
      "boom",
    ],
  ];
  test.each(shapes)("%s", async (_what, frame, message) => {
    const error = await failure(() => readFrames([...framesOf([said("a")]), frame, DONE]));
    expect(error.message).toBe(message);
  });

  test("a finish reason that says the answer failed is an error", async () => {
    for (const reason of ["error", "insufficient_system_resource"])
      expect((await failure(() => read([said("a"), finish(reason)]))).kind).toBe("upstream");
  });

  test("an error of null is none", () => {
    expect(lines([{ ...said("a"), error: null }, finish("stop")]).at(-1)).toBe("message-end stop");
  });

  test("what is not JSON is an error; pings and events of other names are passed over", async () => {
    expect(await failure(() => readFrames([{ data: "<html>" }, DONE]))).toMatchObject({
      code: "upstream_invalid_answer",
    });
    expect(await failure(() => readFrames([{ data: "[1]" }, DONE]))).toMatchObject({
      code: "upstream_invalid_answer",
    });
    const events = readFrames([
      { event: "ping", data: "x" },
      { data: "" },
      ...framesOf([said("a"), finish("stop")]),
      { data: " [DONE] " },
    ]);
    expect(sketch(events)).toContain("delta 0 a");
  });
});
