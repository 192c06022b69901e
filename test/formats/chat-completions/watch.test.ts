import { describe, expect, test } from "bun:test";
import type { Frame, StreamSummary } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { writeFrame } from "../../../src/stream/sse.ts";
import { Tap } from "../../../src/stream/tap.ts";
import { chunk, DONE, framesOf, upstream } from "./make.ts";

const USAGE = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } };
const EXPECTED = { input: 6, cacheRead: 4, cacheWrite: 0, output: 5, reasoning: 0 };

/** What the tap of the native lane sees of these frames, event by event. */
function seen(frames: readonly Frame[]): StreamSummary {
  const tap = new Tap(upstream.native.watch);
  for (const frame of frames) tap.push(Buffer.from(writeFrame(frame)));
  return tap.seen;
}

const watch = (...bodies: JsonObject[]) => seen(framesOf(bodies));
const choice = (index: number, finish: string | null): JsonObject => ({
  choices: [{ index, delta: {}, finish_reason: finish }],
});

describe("the native lane sees the ending of a stream", () => {
  test("[DONE] terminates", () =>
    expect(seen([...framesOf([chunk({ content: "a" })]), DONE])).toMatchObject({
      terminated: true,
      complete: true,
    }));

  test("a finish reason completes, with or without a space behind the colon", () => {
    expect(watch(chunk({ content: "a" }), chunk({}, "length"))).toMatchObject({
      terminated: false,
      complete: true,
      finish: { kind: "length", raw: "length" },
    });
    expect(
      seen([{ data: '{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}' }]).complete,
    ).toBeTrue();
  });

  test("text alone, a null and an empty reason do not", () => {
    for (const reason of [null, ""])
      expect(watch(chunk({ content: "a" }), chunk({}, reason)).complete).toBeFalse();
    expect(watch(chunk({ content: '"finish_reason":"stop" [DONE]' })).complete).toBeFalse();
  });

  test("every choice has to end", () => {
    const start = [choice(0, null), choice(1, null)];
    expect(watch(...start, choice(0, "stop")).complete).toBeFalse();
    expect(watch(...start, choice(1, "stop")).complete).toBeFalse();
    expect(watch(...start, choice(0, "stop"), choice(1, "stop")).complete).toBeTrue();
    expect(watch(choice(0, "stop"), choice(1, null)).complete).toBeFalse();
  });

  test("what a finish reason says of calls is kept although the calls pass unread", () => {
    expect(watch(chunk({}, "tool_calls")).finish).toEqual({ kind: "tool-calls", raw: "tool_calls" });
    expect(watch(chunk({}, "stop", { choice: { stop_reason: "END" } })).finish).toMatchObject({
      kind: "stop-sequence",
      stopSequence: "END",
    });
  });
});

test("usage keeps what prices depend on, and says whether the answer had ended", () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    prompt_tokens_details: { audio_tokens: 2, image_tokens: 3 },
    completion_tokens_details: { audio_tokens: 4, image_tokens: 1 },
    server_tool_use: { web_search_requests: 2 },
    cost: 0.00012,
  };
  expect(watch(chunk({}, "stop"), { choices: [], usage, service_tier: "flex" }).usage).toMatchObject({
    audioIn: 2,
    imageIn: 3,
    audioOut: 4,
    imageOut: 1,
    searches: 2,
    tier: "flex",
    reported: 120_000,
    known: "final",
  });
  const ticks = { ...usage, cost_in_usd_ticks: 37_756_000 };
  expect(watch({ choices: [], usage: ticks }).usage).toMatchObject({ reported: 3_775_600, known: "partial" });
  // Counts before the finish reason are final once the answer is whole.
  expect(seen([...framesOf([{ choices: [], usage }, chunk({}, "stop")]), DONE]).usage).toMatchObject({
    known: "final",
  });
  expect(watch(chunk({}, "stop")).usage).toBeUndefined();
});

describe("the native lane sees the token counts of a stream", () => {
  const places: [what: string, body: JsonObject][] = [
    ["a chunk of its own", { choices: [], usage: USAGE }],
    ["the finish chunk", { ...chunk({}, "stop"), usage: USAGE }],
    ["Groq's x_groq", { ...chunk({}), x_groq: { usage: USAGE } }],
    ["Moonshot's choice", chunk({}, "stop", { choice: { usage: USAGE } })],
  ];
  test.each(places)("%s", (_what, body) =>
    expect(watch(chunk({ content: "a" }), body).usage).toMatchObject(EXPECTED),
  );

  const vendors: [what: string, usage: JsonObject, expected: JsonObject][] = [
    [
      "cached inside the prompt",
      { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 40 } },
      { input: 60, cacheRead: 40 },
    ],
    [
      "read and written",
      {
        prompt_tokens: 4751,
        completion_tokens: 16,
        prompt_tokens_details: { cached_tokens: 317, cache_write_tokens: 4425 },
      },
      { input: 9, cacheRead: 317, cacheWrite: 4425, output: 16 },
    ],
    [
      "DeepSeek's hits",
      { prompt_tokens: 100, completion_tokens: 1, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
      { input: 36, cacheRead: 64 },
    ],
    [
      "cached outside the prompt: never negative",
      { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 40 } },
      { input: 10, cacheRead: 40 },
    ],
    [
      "reasoning inside the output",
      {
        prompt_tokens: 10,
        completion_tokens: 9,
        total_tokens: 19,
        completion_tokens_details: { reasoning_tokens: 7 },
      },
      { output: 9, reasoning: 7 },
    ],
    [
      "xAI's reasoning beside the output",
      {
        prompt_tokens: 10,
        completion_tokens: 2,
        total_tokens: 19,
        completion_tokens_details: { reasoning_tokens: 7 },
      },
      { output: 9, reasoning: 7 },
    ],
    [
      "nulls and nonsense",
      {
        prompt_tokens: 10,
        completion_tokens: 2,
        prompt_tokens_details: null,
        completion_tokens_details: { reasoning_tokens: -1 },
      },
      { input: 10, output: 2, reasoning: 0 },
    ],
  ];
  test.each(vendors)("%s", (_what, usage, expected) => {
    expect(watch({ choices: [], usage }).usage).toMatchObject(expected);
  });

  test("the last one wins; zeros and null say nothing", () => {
    expect(
      watch({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }, { choices: [], usage: USAGE })
        .usage,
    ).toMatchObject(EXPECTED);
    expect(
      watch({ choices: [], usage: USAGE }, { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } })
        .usage,
    ).toMatchObject(EXPECTED);
    expect(watch({ ...chunk({ content: "completion_tokens" }), usage: null }).usage).toBeUndefined();
  });
});

describe("the native lane sees errors of a stream", () => {
  test("an error frame, also with [DONE] behind it", () => {
    const found = seen([
      ...framesOf([chunk({ content: "a" }), { error: { message: "boom", type: "server_error" } }]),
      DONE,
    ]);
    expect(found.error).toMatchObject({ kind: "upstream", message: "boom" });
  });

  test("by the event's name", () =>
    expect(seen([{ event: "error", data: '{"message":"boom"}' }]).error).toBeDefined());

  test("the word in a text is none, null is none, and nothing behind [DONE] is", () => {
    expect(watch(chunk({ content: '{"error":{}}' }), { ...chunk({}), error: null }).error).toBeUndefined();
    expect(
      seen([...framesOf([chunk({ content: "a" })]), DONE, ...framesOf([{ error: { message: "late" } }])])
        .error,
    ).toBeUndefined();
  });

  test("bytes that are no JSON pass unread", () =>
    expect(seen([{ data: '"error" <html>' }])).toEqual({ terminated: false, complete: false }));
});

describe("a JSON answer", () => {
  const answer = (body: JsonObject): StreamSummary => {
    const found: StreamSummary = { terminated: false, complete: false };
    upstream.native.watch.answer(body, found);
    return found;
  };

  test("usage, ending and completeness", () => {
    const body = { choices: [{ index: 0, message: { content: "a" }, finish_reason: "stop" }], usage: USAGE };
    expect(answer(body)).toMatchObject({
      usage: EXPECTED,
      finish: { kind: "stop" },
      terminated: true,
      complete: true,
    });
  });

  test("an error with status 200", () => {
    expect(answer({ error: { message: "filtered", code: "content_filter" } }).error).toMatchObject({
      message: "filtered",
    });
    expect(answer({ error: "boom" }).error).toMatchObject({ message: "boom" });
  });
});
