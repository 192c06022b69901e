/** Answers, streamed and whole: blocks, calls, reasoning, server tools, endings, token counts. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  begin,
  CLAUDE,
  delta,
  end,
  endOf,
  type Event,
  framesOf,
  GPT_OSS,
  metadata,
  NOVA,
  readBody,
  readContent,
  readStream,
  start,
  stop,
  told,
  upstream,
} from "./make.ts";
import { makeContext } from "../../helpers/codec-context.ts";

/** One answer in both shapes says the same. */
function expectBoth(
  events: readonly Event[],
  content: JsonObject[],
  expected: string[],
  model = CLAUDE,
  reason = "end_turn",
): void {
  expect(told(readStream([start, ...events, end(reason), metadata], { model }))).toEqual(expected);
  expect(told(readContent(content, { model }, reason))).toEqual(expected);
}

describe("blocks", () => {
  test("text opens with its first delta that is not empty", () => {
    expectBoth(
      [delta(0, { text: "" }), stop(0), delta(1, { text: "Hel" }), delta(1, { text: "lo" }), stop(1)],
      [{ text: "" }, { text: "Hello" }],
      ["text: Hello"],
    );
  });

  test("an empty text before the reasoning makes no block", () => {
    expectBoth(
      [
        delta(0, { text: "" }),
        stop(0),
        delta(1, { reasoningContent: { text: "Hm" } }),
        stop(1),
        delta(2, { text: "Yes." }),
        stop(2),
      ],
      [{ text: "" }, { reasoningContent: { reasoningText: { text: "Hm" } } }, { text: "Yes." }],
      ["reasoning bedrock: Hm", "text: Yes."],
      GPT_OSS,
    );
  });

  test("parallel calls are told apart by their index", () => {
    expectBoth(
      [
        begin(1, { toolUse: { toolUseId: "a", name: "f" } }),
        begin(2, { toolUse: { toolUseId: "b", name: "g", type: "tool_use" } }),
        delta(1, { toolUse: { input: '{"x":' } }),
        delta(2, { toolUse: { input: "{}" } }),
        delta(1, { toolUse: { input: "1}" } }),
        stop(2),
        stop(1),
      ],
      [
        { toolUse: { toolUseId: "a", name: "f", input: { x: 1 } } },
        { toolUse: { toolUseId: "b", name: "g", input: {}, type: "tool_use" } },
      ],
      ['tool-call a f function: {"x":1}', "tool-call b g function: {}"],
      CLAUDE,
      "tool_use",
    );
  });

  test("an answer of calls alone is an answer, and its reason is tool-calls whatever the provider said", () => {
    const events = readContent([{ toolUse: { toolUseId: "a", name: "f", input: {} } }], {}, "end_turn");
    expect(endOf(events).reason).toMatchObject({ kind: "tool-calls", raw: "end_turn" });
  });

  test("reasoning is nested in JSON and flat in streams", () => {
    expectBoth(
      [
        delta(0, { reasoningContent: { text: "Hm" } }),
        delta(0, { reasoningContent: { text: "m." } }),
        delta(0, { reasoningContent: { signature: "U0lH" } }),
        stop(0),
        delta(1, { text: "Yes." }),
        stop(1),
      ],
      [{ reasoningContent: { reasoningText: { text: "Hmm.", signature: "U0lH" } } }, { text: "Yes." }],
      ["reasoning anthropic: Hmm. signed U0lH", "text: Yes."],
    );
  });

  test("a signature without text is a block of its own", () => {
    expectBoth(
      [delta(0, { reasoningContent: { signature: "U0lH" } }), stop(0)],
      [{ reasoningContent: { reasoningText: { text: "", signature: "U0lH" } } }],
      ["reasoning anthropic:  signed U0lH"],
    );
  });

  test("reasoning of other models names the provider as its origin", () => {
    expectBoth(
      [delta(0, { reasoningContent: { text: "Hm" } }), stop(0)],
      [{ reasoningContent: { reasoningText: { text: "Hm" } } }],
      ["reasoning bedrock: Hm"],
      NOVA,
    );
  });

  test("encrypted reasoning in three pieces is the value of the JSON form", () => {
    const bytes = Buffer.from("Eu8Esecret");
    const pieces = [bytes.subarray(0, 4), bytes.subarray(4, 5), bytes.subarray(5)].map((piece) =>
      piece.toString("base64"),
    );
    const deltas = pieces.map((redactedContent) => delta(0, { reasoningContent: { redactedContent } }));
    const whole = bytes.toString("base64");
    expectBoth(
      [...deltas, stop(0)],
      [{ reasoningContent: { redactedContent: whole } }],
      ["reasoning Eu8Esecret anthropic: "],
    );
    expectBoth(
      [...deltas, stop(0)],
      [{ reasoningContent: { redactedContent: whole } }],
      [`reasoning ${whole} bedrock: `],
      GPT_OSS,
    );
  });

  test("block indexes may have gaps, and unknown events and blocks are ignored", () => {
    const events: Event[] = [
      delta(3, { text: "a" }),
      ["newEvent", { x: 1 }],
      delta(9, { newDelta: 1 }),
      delta(12, { text: "b" }),
    ];
    expect(told(readStream([start, ...events, end(), metadata]))).toEqual(["text: ab"]);
  });
});

describe("tools that the provider runs", () => {
  const call = { toolUseId: "s", name: "nova_grounding", type: "server_tool_use" };
  const answer = { toolUseId: "s", type: "nova_grounding_result", status: "success" };
  const server: Event[] = [
    begin(0, { toolUse: call }),
    delta(0, { toolUse: { input: '{"query":"q"}' } }),
    stop(0),
    begin(1, { toolResult: answer }),
    delta(1, { toolResult: [{ text: "[HIDDEN]" }] }),
    stop(1),
  ];
  const content = [
    { toolUse: { ...call, input: { query: "q" } } },
    { toolResult: { ...answer, content: [{ text: "[HIDDEN]" }] } },
  ];
  const web = { location: { web: { url: "https://example.com/a", domain: "example.com" } } };

  test("make no call for the client, and the answer ends with stop", () => {
    for (const events of [
      readStream([start, ...server, end("tool_use"), metadata], { model: NOVA }),
      readContent(content, { model: NOVA }, "tool_use"),
    ]) {
      expect(events.flatMap((event) => (event.type === "block-start" ? [event.block.type] : []))).toEqual([
        "foreign",
        "foreign",
      ]);
      expect(endOf(events).reason.kind).toBe("stop");
    }
    expect(told(readStream([start, ...server, end(), metadata], { model: NOVA }))).toEqual(
      told(readContent(content, { model: NOVA })),
    );
  });

  test("leave the client's own call beside them what it is", () => {
    const own = { toolUse: { toolUseId: "a", name: "f", input: {} } };
    const events = readContent([...content, own], { model: NOVA }, "tool_use");
    expect(told(events).at(-1)).toBe("tool-call a f function: {}");
    expect(endOf(events).reason.kind).toBe("tool-calls");
  });

  test("give citations, which belong to the text before them also as blocks of their own", () => {
    expectBoth(
      [
        delta(2, { text: "It is" }),
        stop(2),
        delta(3, { citation: web }),
        stop(3),
        delta(4, { text: " 4." }),
        stop(4),
      ],
      [{ citationsContent: { content: [{ text: "It is" }], citations: [web] } }, { text: " 4." }],
      ["text: It is<https://example.com/a> 4."],
      NOVA,
    );
  });

  test("a citation of a document has no URL and is left out, its text is not", () => {
    const page = { location: { documentPage: { documentIndex: 0, start: 1, end: 2 } }, title: "Document 1" };
    expectBoth(
      [delta(0, { citation: page }), delta(0, { text: "It" }), stop(0)],
      [{ citationsContent: { content: [{ text: "It" }], citations: [page] } }],
      ["text: It"],
    );
  });
});

describe("the end", () => {
  const reasons: [string, string][] = [
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["content_filtered", "content-filter"],
    ["guardrail_intervened", "content-filter"],
    ["some_new_word", "length"],
  ];
  test.each(reasons)("%s is %s", (raw, kind) => {
    expect(endOf(readStream([start, delta(0, { text: "a" }), stop(0), end(raw), metadata])).reason).toEqual({
      kind: kind as "stop",
      raw,
    });
  });

  test("stop_sequence names the sequence", () => {
    const fields = { additionalModelResponseFields: { stop_sequence: "END" } };
    expect(
      endOf(readStream([start, delta(0, { text: "a" }), end("stop_sequence", fields), metadata])).reason,
    ).toEqual({
      kind: "stop-sequence",
      raw: "stop_sequence",
      stopSequence: "END",
    });
  });

  test.each(["malformed_model_output", "malformed_tool_use"])("%s fails the answer", (raw) => {
    expect(() => readStream([start, delta(0, { text: "a" }), end(raw), metadata])).toThrow(/could not read/);
    expect(() => readContent([{ text: "a" }], {}, raw)).toThrow(/could not read/);
  });

  test("comes with the token counts, which follow the stop reason", () => {
    const reader = upstream.codec.readStream(makeContext({ model: CLAUDE }));
    const [first, ...rest] = framesOf([start, delta(0, { text: "a" }), stop(0), end(), metadata]);
    const pushed = [first!, ...rest].map((frame) => reader.push(frame).map(({ type }) => type));
    expect(pushed).toEqual([
      ["message-start"],
      ["block-start", "block-delta"],
      [],
      ["block-end"],
      ["usage", "message-end"],
    ]);
  });

  test("comes with the end of the body if no counts follow", () => {
    const { usage, reason } = endOf(readStream([start, delta(0, { text: "a" }), stop(0), end()]));
    expect([reason.kind, usage.input, usage.output, usage.known]).toEqual(["stop", 0, 0, undefined]);
  });

  test("does not come without a stop reason, wherever the stream is cut", () => {
    const events: Event[] = [
      start,
      delta(0, { text: "a" }),
      stop(0),
      begin(1, { toolUse: { toolUseId: "t", name: "f" } }),
      stop(1),
    ];
    for (let length = 0; length <= events.length; length++)
      expect(() => readStream(events.slice(0, length))).toThrow(
        expect.objectContaining({ code: "stream_incomplete" }),
      );
    expect(() => readBody({ output: { message: { content: [{ text: "a" }] } } })).toThrow(/cannot read/);
  });
});

test("token counts are disjoint, and the second names of the cache counts add nothing", () => {
  const usage = {
    inputTokens: 12,
    outputTokens: 7,
    totalTokens: 169,
    cacheReadInputTokens: 100,
    cacheReadInputTokenCount: 100,
    cacheWriteInputTokens: 50,
    cacheWriteInputTokenCount: 50,
    cacheDetails: [
      { ttl: "5m", inputTokens: 20 },
      { ttl: "1h", inputTokens: 30 },
    ],
  };
  const body = {
    output: { message: { content: [{ text: "a" }] } },
    stopReason: "end_turn",
    usage,
    serviceTier: { type: "flex" },
  };
  expect(endOf(readBody(body)).usage).toEqual({
    input: 12,
    cacheRead: 100,
    cacheWrite: 50,
    cacheWrite1h: 30,
    output: 7,
    reasoning: 0,
    tier: "flex",
    known: "final",
  });
});

test("masked words of a guardrail stay in the text", () => {
  const events = readContent([{ text: "It is {ADDRESS}." }], {}, "guardrail_intervened");
  expect(told(events)).toEqual(["text: It is {ADDRESS}."]);
});

describe("an exception in a stream", () => {
  const thrown = (type: string, message: string, event = "exception") => {
    try {
      readStream([start, delta(0, { text: "a" }), [event, { type, message }]]);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const cases: [string, string, number][] = [
    ["throttlingException", "rate-limited", 429],
    ["serviceUnavailableException", "overloaded", 503],
    ["modelTimeoutException", "timeout", 504],
    ["validationException", "invalid-request", 400],
    ["internalServerException", "upstream", 502],
    ["modelStreamErrorException", "upstream", 502],
    ["someNewException", "upstream", 502],
  ];
  test.each(cases)("%s is %s", (type, kind, status) => {
    expect(thrown(type, "What happened.")).toMatchObject({ kind, status, message: "What happened." });
  });

  test("says whether the model itself refused the request, which is not repeated", () => {
    const failure = (originalStatusCode: number) => {
      const data = { type: "modelStreamErrorException", message: "x", originalStatusCode };
      return upstream.codec
        .readStream(makeContext({ model: CLAUDE }))
        .push({ event: "exception", data: JSON.stringify(data) });
    };
    expect(() => failure(400)).toThrow(expect.objectContaining({ kind: "upstream", shouldRetry: false }));
    expect(() => failure(500)).toThrow(expect.objectContaining({ kind: "upstream", shouldRetry: undefined }));
  });

  test("is also a message of the type error", () => {
    expect(thrown("InternalFailure", "What happened.", "error")).toMatchObject({
      kind: "upstream",
      message: "What happened.",
    });
  });
});
