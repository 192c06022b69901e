import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { readRetryAfter } from "../../../src/formats/shared/retry-after.ts";
import { framesOf, failure, requestContext, readFrames, readBody } from "./make.ts";

const body = (type: string, message: string, details?: JsonObject) =>
  JSON.stringify({
    type: "error",
    error: { type, message, ...(details && { details }) },
    request_id: "req_up",
  });

describe("when to come back", () => {
  const now = Date.parse("2026-11-20T00:00:00Z");
  const read = (headers: Record<string, string>) => readRetryAfter(new Headers(headers), undefined, now);

  test("every spelling", () => {
    expect(read({ "retry-after-ms": "1500", "retry-after": "9" })).toBe(1.5);
    expect(read({ "retry-after": "7" })).toBe(7);
    expect(read({ "retry-after": "Fri, 20 Nov 2026 00:00:30 GMT" })).toBe(30);
    expect(read({ "retry-after": "Fri, 20 Nov 2020 00:00:30 GMT" })).toBe(0);
    expect(read({ "retry-after": "soon" })).toBeUndefined();
    expect(read({})).toBeUndefined();
  });

  test("the reset of the limit that is used up", () => {
    expect(
      read({
        "anthropic-ratelimit-requests-remaining": "10",
        "anthropic-ratelimit-requests-reset": "2026-11-20T01:00:00Z",
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-11-20T00:00:12Z",
      }),
    ).toBe(12);
  });
});

describe("error frames in a stream", () => {
  const start: JsonObject = { type: "message_start", message: { id: "m", usage: {} } };
  const kindOf = async (frame: { event?: string; data: string }) =>
    (await failure(() => readFrames([...framesOf([start]), frame], requestContext()))).kind;

  test("under either name, typed or bare, JSON or not", async () => {
    expect(await kindOf({ event: "error", data: body("overloaded_error", "Overloaded") })).toBe("overloaded");
    expect(await kindOf({ data: body("rate_limit_error", "x") })).toBe("rate-limited");
    expect(await kindOf({ data: '{"error":{"message":"x"}}' })).toBe("upstream");
    expect(await kindOf({ event: "error", data: "gone" })).toBe("upstream");
    expect(
      await kindOf({
        event: "error",
        data: body("invalid_request_error", "prompt is too long: 5 tokens > 4 maximum"),
      }),
    ).toBe("invalid-request");
  });

  test("a JSON answer that is an error is one", async () => {
    const error = await failure(() =>
      readBody(JSON.parse(body("overloaded_error", "Overloaded")) as JsonObject, requestContext()),
    );
    expect(error).toMatchObject({ kind: "overloaded", message: "Overloaded" });
    expect((await failure(() => readBody({ hello: 1 }, requestContext()))).code).toBe(
      "upstream_invalid_answer",
    );
  });
});
