import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Frame } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { openMembers } from "../../../src/formats/chat-completions/reasoning.ts";
import { checkEvents } from "../../helpers/describe-events.ts";
import {
  chunk,
  DONE,
  failure,
  framesOf,
  fromList,
  makeCall,
  makeRequest,
  read,
  sketch,
  toList,
  upstream,
} from "./make.ts";

const calls = (...items: JsonObject[]) => chunk({ tool_calls: items });
const begin = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args = "",
): JsonObject => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id, type: "function" }),
  function: { ...(name !== undefined && { name }), arguments: args },
});
const more = (index: number, args: string): JsonObject => ({ index, function: { arguments: args } });
const finish = (reason: string) => chunk({}, reason);
const said = (content: string) => chunk({ content });

/** The lines of a run that holds its promises. */
async function lines(
  bodies: readonly JsonObject[],
  options: Parameters<typeof read>[1] = {},
): Promise<string[]> {
  const events = await read(bodies, options);
  checkEvents(events);
  return sketch(events).filter((line) => line !== "usage");
}

/** Frames and how their source ends: at its end, or with an error. */
async function readFrames(frames: readonly Frame[], broken?: Error, call = makeCall()): Promise<ChatEvent[]> {
  async function* source() {
    yield* frames;
    if (broken) throw broken;
  }
  return toList(upstream.decodeStream(source(), call));
}

const reset = new GatewayError("upstream", "The provider's stream broke off.", { code: "stream_incomplete" });

describe("blocks", () => {
  test("the worked example: reasoning, text, two calls whose fragments interleave", async () => {
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
    expect(await lines(bodies)).toEqual([
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
    const events = await read(bodies);
    expect(events[0]).toEqual({ type: "message-start", id: "chatcmpl-up", model: "up" });
    expect(events.at(-1)).toMatchObject({ usage: { input: 60, cacheRead: 40, output: 7 } });
  });

  test("F-1: text, reasoning, text are three blocks", async () => {
    expect(await lines([said("a"), chunk({ reasoning: "b" }), said("c"), finish("stop")])).toEqual([
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

  test("F-2: text and two calls have indexes 0, 1, 2", async () => {
    const bodies = [
      said("a"),
      calls(begin(0, "x", "f", "{}")),
      calls(begin(1, "y", "g", "{}")),
      finish("tool_calls"),
    ];
    expect((await lines(bodies)).filter((line) => line.startsWith("start"))).toEqual([
      "start 0 text",
      "start 1 tool-call f",
      "start 2 tool-call g",
    ]);
  });

  test("F-3: a line break between calls is no text", async () => {
    const bodies = [
      calls(begin(0, "x", "f", "{}")),
      said("\n"),
      calls(begin(1, "y", "g", "{}")),
      said(" \n"),
      finish("tool_calls"),
    ];
    expect((await lines(bodies)).some((line) => line.includes("text"))).toBeFalse();
  });

  test("white space that real text follows is kept", async () => {
    expect(await lines([said("\n"), said("\n"), said("a"), said("\n"), finish("stop")])).toEqual([
      "start 0 text",
      "delta 0 \n\na",
      "delta 0 \n",
      "end 0",
      "message-end stop",
    ]);
  });

  test("F-4: reasoning behind a call is a block of its own", async () => {
    const bodies = [
      chunk({ reasoning_content: "a" }),
      calls(begin(0, "x", "f", "{}")),
      chunk({ reasoning_content: "b" }),
      said("c"),
      finish("tool_calls"),
    ];
    expect((await lines(bodies)).filter((line) => line.startsWith("start"))).toEqual([
      "start 0 reasoning",
      "start 1 tool-call f",
      "start 2 reasoning",
      "start 3 text",
    ]);
  });

  test("text that comes while arguments are incomplete waits for them", async () => {
    const bodies = [
      calls(begin(0, "x", "f", '{"a"')),
      said("b"),
      calls(more(0, ":1}")),
      finish("tool_calls"),
    ];
    expect(await lines(bodies)).toEqual([
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

  test("F-9: reasoning and content in one delta are told apart, reasoning first", async () => {
    expect(await lines([chunk({ content: "c", reasoning_content: "r" }), finish("stop")])).toEqual([
      "start 0 reasoning",
      "delta 0 r",
      "end 0",
      "start 1 text",
      "delta 1 c",
      "end 1",
      "message-end stop",
    ]);
  });

  test("F-10: content null is no text, and takes nothing from the end", async () => {
    expect(
      await lines([
        said("a"),
        chunk({ content: null }),
        chunk({ content: null, tool_calls: null, reasoning: null }, "stop"),
      ]),
    ).toEqual(["start 0 text", "delta 0 a", "end 0", "message-end stop"]);
  });

  test("F-16: the same reasoning in two fields is read once", async () => {
    const mirrored = {
      reasoning: "r",
      reasoning_content: "r",
      reasoning_details: [{ type: "reasoning.text", text: "r", index: 0 }],
    };
    expect(await lines([chunk(mirrored), said("x"), finish("stop")])).toContain("delta 0 r");
    expect(
      (await lines([chunk(mirrored), finish("stop")])).filter((line) => line.startsWith("delta")),
    ).toEqual(["delta 0 r"]);
    expect(
      await lines([
        chunk({ reasoning_details: [{ type: "reasoning.summary", summary: "s" }] }),
        finish("stop"),
      ]),
    ).toContain("delta 0 s");
  });

  test("reasoning says who made it; a signature ends its block, encrypted reasoning is one", async () => {
    const details = (detail: JsonObject) =>
      chunk({ reasoning_details: [{ format: "anthropic-claude-v1", index: 0, ...detail }] });
    const events = await read([
      details({ type: "reasoning.text", text: "t" }),
      details({ type: "reasoning.text", signature: "sig" }),
      details({ type: "reasoning.encrypted", data: "enc", id: "r1" }),
      said("x"),
      finish("stop"),
    ]);
    checkEvents(events);
    expect(events[1]).toMatchObject({ block: { type: "reasoning", origin: "vendor" } });
    const end = events[3] as Extract<ChatEvent, { type: "block-end" }>;
    expect(openMembers(end.signature!)).toEqual({ signature: "sig", format: "anthropic-claude-v1" });
    const block = (events[4] as Extract<ChatEvent, { type: "block-start" }>).block as { redacted: string };
    expect(openMembers(block.redacted)).toEqual({ data: "enc", id: "r1", format: "anthropic-claude-v1" });
  });

  test("Mistral's content as a list: thinking and text", async () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "t" }] },
      { type: "text", text: "a" },
      "b",
      { type: "reference", reference_ids: [1] },
    ];
    expect(await lines([chunk({ content }), finish("stop")])).toEqual([
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

  test("a refusal is a block of its own and the reason", async () => {
    expect(await lines([chunk({ refusal: "I " }), chunk({ refusal: "won't" }), finish("stop")])).toEqual([
      "start 0 refusal",
      "delta 0 I ",
      "delta 0 won't",
      "end 0",
      "message-end content-filter",
    ]);
  });

  test("citations belong to the text they come with", async () => {
    const annotations = [
      {
        type: "url_citation",
        url_citation: { url: "https://x.test", title: "T", start_index: 0, end_index: 1 },
      },
    ];
    const events = await read([said("a"), chunk({ annotations }), finish("stop")]);
    checkEvents(events);
    expect(events).toContainEqual({
      type: "citation",
      index: 0,
      citation: { url: "https://x.test", title: "T" },
    });
  });

  test("Azure's first chunk without choices, and chunks of nothing, are passed over", async () => {
    const filter = { id: "", model: "", choices: [], prompt_filter_results: [{}] };
    const events = await read([filter, {}, said("a"), { obfuscation: "xyz", ...finish("stop") }]);
    expect(events[0]).toEqual({ type: "message-start", id: "chatcmpl-up", model: "up" });
  });

  test("an upstream without id and model gets those of the call", async () => {
    const events = await read([{ choices: [{ delta: { content: "a" }, finish_reason: "stop" }] }]);
    expect(events[0]).toEqual({ type: "message-start", id: "req_test", model: "some-model" });
  });
});

describe("think tags", () => {
  const traits: Traits = { thinkTags: true };
  const whole = "\n<think>\nwhy <b>\n</think>\n\nbecause </think>";

  test("are parted only where a trait says so, wherever they are cut", async () => {
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
      expect(joined(await lines([...pieces.map(said), finish("stop")], { traits }))).toEqual(expected);
    }
    expect(await lines([said(whole), finish("stop")])).toEqual([
      "start 0 text",
      `delta 0 ${whole}`,
      "end 0",
      "message-end stop",
    ]);
  });

  test("text without a tag, and a tag that never closes", async () => {
    expect(joined(await lines([said("<thi"), said("s is it"), finish("stop")], { traits }))).toContain(
      "delta 0 <this is it",
    );
    expect(joined(await lines([said("<think>on and on </th"), finish("length")], { traits }))).toEqual([
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

describe("calls in every shape", () => {
  /** Names and arguments of the calls of an answer. */
  async function callsIn(bodies: readonly JsonObject[], reason = "tool_calls"): Promise<string[]> {
    const events = await read([...bodies, finish(reason)]);
    checkEvents(events);
    const found = new Map<number, string>();
    for (const event of events) {
      if (event.type === "block-start" && event.block.type === "tool-call")
        found.set(event.index, `${event.block.name} `);
      if (event.type === "block-delta" && found.has(event.index))
        found.set(event.index, found.get(event.index)! + event.delta);
    }
    return [...found.values()];
  }

  const shapes: [what: string, bodies: JsonObject[], expected: string[]][] = [
    [
      "F-7: interleaved fragments of two indexes",
      [
        calls(begin(0, "a", "f", '{"a":')),
        calls(begin(1, "b", "g", '{"b":')),
        calls(more(0, "1}")),
        calls(more(1, "2}")),
      ],
      ['f {"a":1}', 'g {"b":2}'],
    ],
    [
      "both calls begun in one chunk",
      [calls(begin(0, "a", "f"), begin(1, "b", "g")), calls(more(0, "{}"), more(1, "{}"))],
      ["f {}", "g {}"],
    ],
    [
      "F-8: two whole calls without an index in one delta",
      [calls(begin(undefined, "a", "f", '{"a":1}'), begin(undefined, "b", "g", "{}"))],
      ['f {"a":1}', "g {}"],
    ],
    [
      "without index and id, one after the other",
      [
        calls(begin(undefined, undefined, "f", '{"a":1}')),
        calls(begin(undefined, undefined, "f", '{"a":2}')),
      ],
      ['f {"a":1}', 'f {"a":2}'],
    ],
    [
      "without index, fragments by id",
      [
        calls(begin(undefined, "a", "f", "{")),
        calls(begin(undefined, "b", "g", "{")),
        calls({ id: "a", function: { arguments: "}" } }),
        calls({ id: "b", function: { arguments: "}" } }),
      ],
      ["f {}", "g {}"],
    ],
    [
      "without index, fragments by nothing",
      [calls(begin(undefined, "a", "f", "{")), calls({ function: { arguments: "}" } })],
      ["f {}"],
    ],
    [
      "index 0 for all, new ids and names",
      [calls(begin(0, "a", "f", "{}")), calls(begin(0, "b", "g", "{}"))],
      ["f {}", "g {}"],
    ],
    [
      "index 0 for all, the same name twice",
      [calls(begin(0, "a", "f", '{"a":1}')), calls(begin(0, "b", "f", '{"a":2}'))],
      ['f {"a":1}', 'f {"a":2}'],
    ],
    [
      "id and name repeated on every fragment",
      [calls(begin(0, "a", "f", '{"a"')), calls(begin(0, "a", "f", ":1}"))],
      ['f {"a":1}'],
    ],
    [
      "a blank name on later fragments",
      [calls(begin(0, "a", "f", '{"a"')), calls(begin(0, "", "", ":1}"))],
      ['f {"a":1}'],
    ],
    [
      "F-6: arguments before the name",
      [
        calls(begin(0, "a", undefined, '{"a"')),
        calls(begin(0, undefined, "", ":")),
        calls(begin(0, undefined, "f", "1}")),
      ],
      ['f {"a":1}'],
    ],
    [
      "F-6: a call that never gets a name",
      [calls(begin(0, "a", " ", "{}")), calls(begin(1, "b", "g", "{}"))],
      ["g {}"],
    ],
    [
      "arguments as an object",
      [calls({ index: 0, id: "a", function: { name: "f", arguments: { a: 1 } } })],
      ['f {"a":1}'],
    ],
    [
      "an empty object in front of fragments",
      [calls({ index: 0, id: "a", function: { name: "f", arguments: {} } }), calls(more(0, '{"a":1}'))],
      ['f {"a":1}'],
    ],
    [
      "no arguments at all",
      [
        calls({ index: 0, id: "a", function: { name: "f" } }),
        calls({ index: 0, function: { arguments: null } }),
      ],
      ["f "],
    ],
    ["sparse indexes", [calls(begin(3, "a", "f", "{}")), calls(begin(7, "b", "g", "{}"))], ["f {}", "g {}"]],
    [
      "the legacy form",
      [chunk({ function_call: { name: "f", arguments: "{" } }), chunk({ function_call: { arguments: "}" } })],
      ["f {}"],
    ],
    [
      "fragments behind whole arguments",
      [calls(begin(0, "a", "f", "{}")), calls(begin(1, "b", "g", "{}")), calls(more(0, "{}"))],
      ["f {}", "g {}"],
    ],
    [
      "Copilot's two choices of one answer",
      [{ choices: [{ delta: { content: "x" } }, { delta: { tool_calls: [begin(0, "a", "f", "{}")] } }] }],
      ["f {}"],
    ],
  ];
  test.each(shapes)("%s", async (_what, bodies, expected) => expect(await callsIn(bodies)).toEqual(expected));

  test("ids the client cannot take, missing and repeated ones are replaced", async () => {
    const events = await read([
      calls(
        begin(0, "functions.f:0", "f", "{}"),
        begin(1, undefined, "g", "{}"),
        begin(2, "same", "h", "{}"),
        begin(3, "same", "i", "{}"),
      ),
      finish("tool_calls"),
    ]);
    checkEvents(events);
    const ids = events.flatMap((event) =>
      event.type === "block-start" && event.block.type === "tool-call" ? [event.block.id] : [],
    );
    expect(ids[2]).toBe("same");
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  test("a call is ended when the next one begins and it is whole", async () => {
    expect(
      await lines([calls(begin(0, "a", "f", "{}")), calls(begin(1, "b", "g", "{}")), finish("tool_calls")]),
    ).toEqual([
      "start 0 tool-call f",
      "delta 0 {}",
      "end 0",
      "start 1 tool-call g",
      "delta 1 {}",
      "end 1",
      "message-end tool-calls",
    ]);
  });

  test("F-50: Gemini's signature comes before its call", async () => {
    const extra_content = { google: { thought_signature: "sig" } };
    const events = await read([calls({ ...begin(0, "a", "f", "{}"), extra_content }), finish("tool_calls")]);
    checkEvents(events);
    expect(events[1]).toMatchObject({
      block: { type: "reasoning", redacted: JSON.stringify({ extra_content }) },
    });
    expect(events[3]).toMatchObject({ block: { type: "tool-call", name: "f" } });
  });

  test("arguments that are broken at the end are a failure, unless the tokens ran out (F-29)", async () => {
    const cut = [calls(begin(0, "a", "f", '{"command":"rm -rf /tm'))];
    expect(await failure(() => read([...cut, finish("tool_calls")]))).toMatchObject({
      kind: "upstream",
      code: "invalid_tool_arguments",
    });
    expect((await lines([...cut, finish("length")])).at(-1)).toBe("message-end length");
    const native = chunk({}, "tool_calls", { choice: { native_finish_reason: "length" } });
    expect((await lines([...cut, native])).at(-1)).toBe("message-end length");
  });
});

describe("the end", () => {
  const body = [said("a")];

  test("G-110: [DONE] without a finish reason is success, of a call too", async () => {
    expect((await lines(body)).at(-1)).toBe("message-end stop");
    expect((await lines([calls(begin(0, "x", "f", "{}"))])).at(-1)).toBe("message-end tool-calls");
  });

  test("F-22, G-109: the end of the stream without both is an error, and no ending is made up", async () => {
    for (const bodies of [[], body, [calls(begin(0, "x", "f", '{"a"'))]]) {
      const events: ChatEvent[] = [];
      const error = await failure(async () => {
        for await (const event of upstream.decodeStream(fromList(framesOf(bodies)), makeCall()))
          events.push(event);
      });
      expect(error).toMatchObject({ kind: "upstream", code: "stream_incomplete" });
      expect(events.some((event) => event.type === "message-end")).toBeFalse();
    }
  });

  test("F-24: a server known to omit both may end so", async () => {
    expect((await lines(body, { done: false, traits: { eofIsStop: true } })).at(-1)).toBe("message-end stop");
  });

  test("G-109: cut before the finish reason is an error; behind it, and behind [DONE], a success", async () => {
    expect(await failure(() => readFrames(framesOf(body), reset))).toBe(reset);
    expect((await readFrames(framesOf([...body, finish("stop")]), reset)).at(-1)).toMatchObject({
      type: "message-end",
    });
    expect((await readFrames([...framesOf(body), DONE], reset)).at(-1)).toMatchObject({
      type: "message-end",
    });
  });

  test("a call the gateway gave up is not a success, however far it came", async () => {
    const call = makeCall();
    call.abort(new GatewayError("timeout", "Too slow."));
    expect(await failure(() => readFrames(framesOf([...body, finish("stop")]), reset, call))).toBe(reset);
  });

  test("F-25: nothing behind [DONE] is read", async () => {
    let reads = 0;
    let closed = false;
    async function* source(): AsyncGenerator<Frame> {
      try {
        for (const frame of [...framesOf(body), DONE, { data: '{"error":"late"}' }]) {
          reads++;
          yield frame;
        }
      } finally {
        closed = true;
      }
    }
    await toList(upstream.decodeStream(source(), makeCall()));
    expect({ reads, closed }).toEqual({ reads: 2, closed: true });
  });

  test("usage and late deltas behind the finish reason still count", async () => {
    const events = await read([
      said("a"),
      finish("stop"),
      chunk({ content: "b" }),
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
    ]);
    expect(sketch(events)).toContain("delta 0 b");
    expect(events.at(-1)).toMatchObject({ usage: { input: 3, output: 2 } });
  });

  test("nothing produced is an answer without blocks", async () => {
    expect(await lines([])).toEqual(["message-end stop"]);
    expect(await lines([finish("stop")])).toEqual(["message-end stop"]);
  });

  const reasons: [word: string | null, kind: string][] = [
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "content-filter"],
    ["model_length", "length"],
    ["eos", "stop"],
    ["", "stop"],
    [null, "stop"],
    ["weird", "stop"],
  ];
  test.each(reasons)("finish reason %j", async (word, kind) =>
    expect((await lines([said("a"), chunk({}, word)])).at(-1)).toBe(`message-end ${kind}`),
  );

  test("the vendor's own word is kept", async () => {
    expect((await read([chunk({ content: "a" }, "model_length")])).at(-1)).toMatchObject({
      reason: { kind: "length", raw: "model_length" },
    });
  });

  test("F-31: calls with finish stop are calls; F-30: tool_calls without one is not", async () => {
    expect((await lines([calls(begin(0, "x", "f", "{}")), finish("stop")])).at(-1)).toBe(
      "message-end tool-calls",
    );
    expect((await lines([said("a"), finish("tool_calls")])).at(-1)).toBe("message-end stop");
  });

  test("F-32: the stop sequence vLLM names; a token id is none", async () => {
    const ended = (stop_reason: string | number) =>
      read([chunk({ content: "a" }, "stop", { choice: { stop_reason } })]);
    expect((await ended("END")).at(-1)).toMatchObject({
      reason: { kind: "stop-sequence", stopSequence: "END" },
    });
    expect((await ended(128_009)).at(-1)).toMatchObject({ reason: { kind: "stop" } });
  });
});

describe("usage", () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 3 },
  };
  const expected = { input: 6, cacheRead: 4, cacheWrite: 0, output: 5, reasoning: 3 };
  const places: [what: string, bodies: JsonObject[]][] = [
    ["a chunk of its own", [said("a"), finish("stop"), { choices: [], usage }]],
    ["the finish chunk", [said("a"), { ...finish("stop"), usage }]],
    [
      "every chunk, growing",
      [
        { ...said("a"), usage: { prompt_tokens: 10, completion_tokens: 1 } },
        { ...finish("stop"), usage },
      ],
    ],
    [
      "every chunk, then zeros",
      [
        { ...said("a"), usage },
        { ...finish("stop"), usage: { prompt_tokens: 0, completion_tokens: 0 } },
      ],
    ],
    ["Groq's x_groq", [said("a"), { ...finish("stop"), x_groq: { usage } }]],
    ["Moonshot's choice", [said("a"), chunk({}, "stop", { choice: { usage } })]],
    ["before the answer", [{ choices: [], usage }, said("a"), finish("stop")]],
  ];
  test.each(places)("G-101: %s", async (_what, bodies) =>
    expect((await read(bodies)).at(-1)).toMatchObject({ usage: expected }),
  );

  test("G-101: missing usage is zeros", async () => {
    expect((await read([said("a"), finish("stop")])).at(-1)).toMatchObject({
      usage: { input: 0, output: 0 },
    });
  });
});

describe("errors in the stream", () => {
  test("F-27, G-111: an error frame followed by [DONE] is an error", async () => {
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

  test("an error of null is none", async () => {
    expect((await lines([{ ...said("a"), error: null }, finish("stop")])).at(-1)).toBe("message-end stop");
  });

  test("what is not JSON is an error; pings and events of other names are passed over", async () => {
    expect(await failure(() => readFrames([{ data: "<html>" }, DONE]))).toMatchObject({
      code: "upstream_invalid_answer",
    });
    expect(await failure(() => readFrames([{ data: "[1]" }, DONE]))).toMatchObject({
      code: "upstream_invalid_answer",
    });
    const events = await readFrames([
      { event: "ping", data: "x" },
      { data: "" },
      ...framesOf([said("a"), finish("stop")]),
      { data: " [DONE] " },
    ]);
    expect(sketch(events)).toContain("delta 0 a");
  });
});

describe("G-46: stop sequences the upstream was not told", () => {
  const watching = (stop: string[]) => makeCall({ model: "gpt-5", request: makeRequest({ stop }) });

  test("end the answer wherever they are cut, and the upstream is left", async () => {
    for (const pieces of [["ab END cd"], ["ab E", "ND", " cd"], [..."ab END cd"]]) {
      let left = false;
      async function* source(): AsyncGenerator<Frame> {
        try {
          yield* framesOf(pieces.map(said));
          yield* framesOf([finish("stop")]);
        } finally {
          left = true;
        }
      }
      const events = await toList(upstream.decodeStream(source(), watching(["END", "NEVER"])));
      checkEvents(events);
      const text = events.map((event) => (event.type === "block-delta" ? event.delta : "")).join("");
      expect(text).toBe("ab ");
      expect(events.at(-1)).toMatchObject({ reason: { kind: "stop-sequence", stopSequence: "END" } });
      expect(left).toBeTrue();
    }
  });

  test("a beginning that goes on otherwise is passed on", async () => {
    const events = await toList(
      upstream.decodeStream(
        fromList([...framesOf([said("a E"), said("NE"), finish("stop")]), DONE]),
        watching(["END"]),
      ),
    );
    checkEvents(events);
    expect(events.map((event) => (event.type === "block-delta" ? event.delta : "")).join("")).toBe("a ENE");
    expect(events.at(-1)).toMatchObject({ reason: { kind: "stop" } });
  });

  test("do not look into reasoning or arguments", async () => {
    const bodies = [
      chunk({ reasoning_content: "END" }),
      said("x"),
      calls(begin(0, "c", "f", '{"a":"END"}')),
      finish("tool_calls"),
    ];
    const events = await toList(
      upstream.decodeStream(fromList([...framesOf(bodies), DONE]), watching(["END"])),
    );
    checkEvents(events);
    expect(events.at(-1)).toMatchObject({ reason: { kind: "tool-calls" } });
  });
});
