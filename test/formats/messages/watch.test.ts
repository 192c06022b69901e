import { describe, expect, test } from "bun:test";
import type { StreamSummary } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { writeFrame } from "../../../src/stream/sse.ts";
import { Tap } from "../../../src/stream/tap.ts";
import { answer, client, framesOf, reasoning, stream, text, tool, upstream } from "./make.ts";

function watch(events: readonly JsonObject[]): StreamSummary {
  const seen: StreamSummary = { terminated: false, complete: false };
  for (const frame of framesOf(events)) upstream.native.watch.frame(frame, seen);
  return seen;
}

const start = (usage: JsonObject): JsonObject => ({ type: "message_start", message: { id: "m", usage } });
const delta = (usage: JsonObject, stop_reason: string | null = "end_turn"): JsonObject => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  usage,
});
const stop: JsonObject = { type: "message_stop" };

describe("four layouts of usage give one total", () => {
  const total = { input: 9, cacheRead: 317, cacheWrite: 4425, output: 16, reasoning: 0 };
  const input = { input_tokens: 9, cache_creation_input_tokens: 4425, cache_read_input_tokens: 317 };
  const LAYOUTS: [string, JsonObject, JsonObject][] = [
    ["start, and output in the delta", { ...input, output_tokens: 1 }, { output_tokens: 16 }],
    ["delta only", { input_tokens: 0, output_tokens: 0 }, { ...input, output_tokens: 16 }],
    ["both", { ...input, output_tokens: 16 }, { ...input, output_tokens: 16 }],
    [
      "start with the cache inside, delta without",
      { input_tokens: 4751, output_tokens: 1 },
      { ...input, output_tokens: 16 },
    ],
    [
      "nulls say nothing",
      { ...input, output_tokens: 1 },
      { input_tokens: null, cache_read_input_tokens: null, output_tokens: 16 },
    ],
  ];
  for (const [name, first, last] of LAYOUTS)
    test(name, () => {
      const seen = watch([start(first), delta(last), stop]);
      expect(seen.usage).toEqual({ ...total, known: "final" });
      expect(seen.finish).toEqual({ kind: "stop", raw: "end_turn" });
    });
});

test("usage keeps what prices depend on, and says whether the output has been counted", () => {
  const first = watch([start({ input_tokens: 9, output_tokens: 1 })]);
  expect(first.usage).toMatchObject({ input: 9, known: "partial" });
  const usage = {
    input_tokens: 9,
    cache_creation_input_tokens: 100,
    cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 },
    output_tokens: 16,
    server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 },
    service_tier: "priority",
    inference_geo: "us",
    speed: "fast",
  };
  const priced = {
    cacheWrite: 100,
    cacheWrite1h: 60,
    searches: 3,
    tier: "priority",
    region: "us",
    speed: "fast",
    known: "final",
  };
  expect(watch([start(usage), delta({ output_tokens: 16 }), stop]).usage).toMatchObject(priced as object);
  const whole: StreamSummary = { terminated: false, complete: false };
  upstream.native.watch.answer({ type: "message", stop_reason: "end_turn", usage }, whole);
  expect(whole.usage).toMatchObject(priced as object);
});

describe("endings", () => {
  test("whole only with message_stop", () => {
    expect(watch([start({}), delta({ output_tokens: 1 })])).toMatchObject({
      terminated: false,
      complete: false,
    });
    expect(watch([start({}), delta({ output_tokens: 1 }), stop])).toMatchObject({
      terminated: true,
      complete: true,
    });
  });

  test("an error frame is seen under any name", () => {
    const seen = watch([
      start({}),
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    ]);
    expect(seen.error).toMatchObject({ kind: "overloaded", message: "Overloaded" });
  });

  test("what comes behind the terminator counts for nothing", () => {
    const seen = watch([
      start({}),
      delta({ output_tokens: 1 }),
      stop,
      { type: "error", error: { type: "api_error", message: "x" } },
    ]);
    expect(seen.error).toBeUndefined();
  });

  test("frames that are no JSON, or of no known type, change nothing", () => {
    const seen: StreamSummary = { terminated: false, complete: false };
    upstream.native.watch.frame({ event: "ping", data: "" }, seen);
    upstream.native.watch.frame({ data: "{" }, seen);
    upstream.native.watch.frame({ data: '{"type":"future","usage":{"output_tokens":5}}' }, seen);
    expect(seen).toEqual({ terminated: false, complete: false });
  });
});

test("a JSON answer is summed up whole", () => {
  const seen: StreamSummary = { terminated: false, complete: false };
  upstream.native.watch.answer(
    { type: "message", stop_reason: "refusal", usage: { input_tokens: 3, output_tokens: 2 } },
    seen,
  );
  expect(seen).toEqual({
    terminated: true,
    complete: true,
    usage: { input: 3, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0, known: "final" },
    finish: { kind: "content-filter", raw: "refusal" },
  });
  const failed: StreamSummary = { terminated: false, complete: false };
  upstream.native.watch.answer({ type: "error", error: { type: "api_error", message: "x" } }, failed);
  expect(failed.error?.kind).toBe("upstream");
});

describe("through the tap", () => {
  const events = answer(
    [...reasoning(0, ["A"]), ...text(1, 'the word "error" and message text'), ...tool(2, "f", ["{}"])],
    {
      kind: "tool-calls",
    },
  );

  for (const spaced of [false, true])
    test(`the marks stand in every event worth reading, ${spaced ? "with" : "without"} spaces`, () => {
      const tap = new Tap(upstream.native.watch);
      for (const frame of stream(events)) {
        const data = spaced ? frame.data.replaceAll('":', '": ') : frame.data;
        tap.push(Buffer.from(writeFrame({ ...frame, data })));
      }
      expect(tap.seen).toMatchObject({
        terminated: true,
        complete: true,
        finish: { kind: "tool-calls" },
        usage: { input: 9, output: 16, cacheRead: 317 },
      });
      expect(tap.seen.error).toBeUndefined();
    });

  test("an error event is seen", () => {
    const tap = new Tap(upstream.native.watch);
    tap.push(Buffer.from('event: message_start\ndata: {"type":"message_start","message":{"usage":{}}}\n\n'));
    tap.push(
      Buffer.from(
        'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}\n\n',
      ),
    );
    expect(tap.seen.error?.kind).toBe("overloaded");
  });
});

describe("headers", () => {
  test("credentials, cookies and origins are on neither list", () => {
    for (const name of [...upstream.address.requestHeaders, ...upstream.address.answerHeaders])
      expect(name).not.toMatch(/authorization|api-key|cookie|forwarded|organization|workspace/);
  });

  test("version and betas go upstream", () => {
    expect(upstream.address.requestHeaders).toContain("anthropic-version");
    expect(upstream.address.requestHeaders).toContain("anthropic-beta");
  });

  test("limits come back", () => {
    for (const name of [
      "anthropic-ratelimit-*",
      "anthropic-priority-*",
      "anthropic-fast-*",
      "retry-after",
      "x-should-retry",
    ])
      expect(upstream.address.answerHeaders).toContain(name);
  });
});

test("clients use the path of Anthropic", () => {
  expect(client.routes.path).toBe("/v1/messages");
});
