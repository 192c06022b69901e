import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { checkEvents } from "../../helpers/describe-events.ts";
import { readUntilError } from "../../helpers/answer-codecs.ts";
import {
  chunk,
  DONE,
  failure,
  framesOf,
  requestContext,
  makeRequest,
  read,
  sketch,
  upstream,
  readFrames,
} from "./make.ts";
import { calls, begin, finish, said, lines } from "./fragments.ts";

describe("a stream ends as its provider ended it", () => {
  const body = [said("a")];

  test("[DONE] without a finish reason is success, of a call too", () => {
    expect(lines(body).at(-1)).toBe("message-end stop");
    expect(lines([calls(begin(0, "x", "f", "{}"))]).at(-1)).toBe("message-end tool-calls");
  });

  test("[DONE] behind nothing is no answer: a server that gives way to the next call ends so", async () => {
    for (const bodies of [[], [chunk({ role: "assistant" })], [chunk({ role: "assistant", content: "" })]])
      expect(await failure(() => readFrames([...framesOf(bodies), DONE]))).toMatchObject({
        kind: "upstream",
        code: "stream_incomplete",
      });
    expect(lines([chunk({ role: "assistant" }), finish("stop")]).at(-1)).toBe("message-end stop");
  });

  test("the end of the stream without both is an error, and no ending is made up", () => {
    for (const bodies of [[], body, [calls(begin(0, "x", "f", '{"a"'))]]) {
      const reader = upstream.codec.readStream(requestContext());
      const { events, error } = readUntilError(reader, framesOf(bodies));
      expect(error).toMatchObject({ kind: "upstream", code: "stream_incomplete" });
      expect(events.some((event) => event.type === "message-end")).toBeFalse();
    }
  });

  test("a server known to omit both may end so", () => {
    expect(lines(body, { done: false, traits: { eofIsStop: true } }).at(-1)).toBe("message-end stop");
  });

  test("the end of the stream behind the finish reason is a success", () => {
    expect(readFrames(framesOf([...body, finish("stop")])).at(-1)).toMatchObject({ type: "message-end" });
  });

  test("[DONE] ends the answer at once", () => {
    const reader = upstream.codec.readStream(requestContext());
    for (const frame of framesOf(body)) reader.push(frame);
    expect(reader.push(DONE).at(-1)).toMatchObject({ type: "message-end" });
  });

  test("usage and late deltas behind the finish reason still count", () => {
    const events = read([
      said("a"),
      finish("stop"),
      chunk({ content: "b" }),
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
    ]);
    expect(sketch(events)).toContain("delta 0 b");
    expect(events.at(-1)).toMatchObject({ usage: { input: 3, output: 2 } });
  });

  test("a finish reason alone is an answer without blocks", () => {
    expect(lines([finish("stop")])).toEqual(["message-end stop"]);
  });

  const reasons: [word: string | null, kind: string][] = [
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "content-filter"],
    ["model_length", "length"],
    ["eos", "stop"],
    ["", "stop"],
    [null, "stop"],
    ["weird", "length"],
    ["eos_token", "stop"],
    ["COMPLETE", "stop"],
  ];
  test.each(reasons)("finish reason %j", (word, kind) =>
    expect(lines([said("a"), chunk({}, word)]).at(-1)).toBe(`message-end ${kind}`),
  );

  test("the vendor's own word is kept", () => {
    expect(read([chunk({ content: "a" }, "model_length")]).at(-1)).toMatchObject({
      reason: { kind: "length", raw: "model_length" },
    });
  });

  test("calls with finish stop are calls; tool_calls without one is not", () => {
    expect(lines([calls(begin(0, "x", "f", "{}")), finish("stop")]).at(-1)).toBe("message-end tool-calls");
    expect(lines([said("a"), finish("tool_calls")]).at(-1)).toBe("message-end stop");
  });

  test("the stop sequence vLLM names; a token id is none", async () => {
    const ended = (stop_reason: string | number) =>
      read([chunk({ content: "a" }, "stop", { choice: { stop_reason } })]);
    expect((await ended("END")).at(-1)).toMatchObject({
      reason: { kind: "stop-sequence", stopSequence: "END" },
    });
    expect((await ended(128_009)).at(-1)).toMatchObject({ reason: { kind: "stop" } });
  });
});

describe("token counts are read where each host sends them", () => {
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
  test.each(places)("%s", (_what, bodies) => expect(read(bodies).at(-1)).toMatchObject({ usage: expected }));

  test("missing usage is zeros", () => {
    expect(read([said("a"), finish("stop")]).at(-1)).toMatchObject({
      usage: { input: 0, output: 0 },
    });
  });
});

describe("stop sequences the upstream was not told", () => {
  const watching = (stop: string[]) => requestContext({ model: "gpt-5", request: makeRequest({ stop }) });

  test("end the answer wherever they are cut, before the finish reason", () => {
    for (const pieces of [["ab END cd"], ["ab E", "ND", " cd"], [..."ab END cd"]]) {
      const events = readFrames(framesOf(pieces.map(said)), watching(["END", "NEVER"]));
      checkEvents(events);
      const text = events.map((event) => (event.type === "block-delta" ? event.delta : "")).join("");
      expect(text).toBe("ab ");
      expect(events.at(-1)).toMatchObject({ reason: { kind: "stop-sequence", stopSequence: "END" } });
    }
  });

  test("a beginning that goes on otherwise is passed on", () => {
    const events = readFrames(
      [...framesOf([said("a E"), said("NE"), finish("stop")]), DONE],
      watching(["END"]),
    );
    checkEvents(events);
    expect(events.map((event) => (event.type === "block-delta" ? event.delta : "")).join("")).toBe("a ENE");
    expect(events.at(-1)).toMatchObject({ reason: { kind: "stop" } });
  });

  test("do not look into reasoning or arguments", () => {
    const bodies = [
      chunk({ reasoning_content: "END" }),
      said("x"),
      calls(begin(0, "c", "f", '{"a":"END"}')),
      finish("tool_calls"),
    ];
    const events = readFrames([...framesOf(bodies), DONE], watching(["END"]));
    checkEvents(events);
    expect(events.at(-1)).toMatchObject({ reason: { kind: "tool-calls" } });
  });
});
