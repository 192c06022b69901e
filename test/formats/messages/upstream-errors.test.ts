import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { readRetryAfter } from "../../../src/formats/shared/retry-after.ts";
import { framesOf, failure, requestContext, upstream, readFrames, readBody } from "./make.ts";

const body = (type: string, message: string, details?: JsonObject) =>
  JSON.stringify({
    type: "error",
    error: { type, message, ...(details && { details }) },
    request_id: "req_up",
  });

function decode(status: number, text: string, headers: Record<string, string> = {}) {
  const {
    kind,
    message,
    code,
    status: own,
    retryAfter,
    shouldRetry,
  } = upstream.decodeError(status, new Headers(headers), text);
  return { kind, message, code, status: own, retryAfter, shouldRetry };
}

describe("kinds", () => {
  const CASES: [number, string, string, number][] = [
    [400, "invalid_request_error", "invalid-request", 400],
    [422, "invalid_request_error", "invalid-request", 422],
    [404, "not_found_error", "not-found", 404],
    [409, "conflict_error", "conflict", 409],
    [413, "request_too_large", "too-large", 413],
    [413, "invalid_request_error", "too-large", 413],
    [429, "rate_limit_error", "rate-limited", 429],
    [500, "api_error", "upstream", 502],
    [503, "api_error", "overloaded", 503],
    [504, "timeout_error", "timeout", 504],
    [529, "overloaded_error", "overloaded", 503],
    [500, "overloaded_error", "overloaded", 503],
    [401, "authentication_error", "upstream-auth", 502],
    [402, "billing_error", "upstream-auth", 502],
    [403, "permission_error", "upstream-auth", 502],
  ];
  for (const [status, type, kind, told] of CASES)
    test(`${status} ${type}`, () =>
      expect(decode(status, body(type, "x"))).toMatchObject({ kind, status: told }));

  test("529 and 503 are the same thing", () => {
    expect(decode(529, "").kind).toBe("overloaded");
    expect(decode(503, "").kind).toBe("overloaded");
  });

  test("a refused credential of ours says nothing of whose it is", () => {
    const told = decode(
      401,
      body("authentication_error", "invalid x-api-key sk-ant-api03-secret of org Acme"),
    );
    expect(told).toMatchObject({ kind: "upstream-auth", status: 502, code: "upstream_auth" });
    expect(told.message).not.toMatch(/Acme|sk-ant|anthropic/i);
    expect(
      decode(400, body("invalid_request_error", "Your credit balance is too low to access the API.")).kind,
    ).toBe("upstream-auth");
  });

  test("the wordings a recovery reads are kept", () => {
    const message = "messages.1.content.0: Invalid `signature` in `thinking` block";
    expect(decode(400, body("invalid_request_error", message)).message).toBe(message);
  });

  test("a prompt that is too long has its code, in either wording", () => {
    for (const message of [
      "prompt is too long: 210000 tokens > 200000 maximum",
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    ])
      expect(decode(400, body("invalid_request_error", message))).toMatchObject({
        kind: "invalid-request",
        code: "context_length_exceeded",
        message,
      });
  });

  test("an unknown model has its code", () => {
    expect(decode(404, body("not_found_error", "model: claude-nine")).code).toBe("model_not_found");
    expect(decode(404, body("not_found_error", "Not Found")).code).toBeUndefined();
  });

  test("the vendor's error_code is passed on; what is no code is not", () => {
    expect(decode(400, body("invalid_request_error", "x", { error_code: "pdf_too_large" })).code).toBe(
      "pdf_too_large",
    );
    expect(decode(400, body("invalid_request_error", "x", { error_code: "a b\r\n" })).code).toBeUndefined();
  });

  test("a spend limit is quota: it names itself and says no time", () => {
    const limit = body("rate_limit_error", "limit", { error_code: "enforced_spend_limit_reached" });
    expect(decode(429, limit).kind).toBe("quota");
    expect(decode(429, limit, { "retry-after": "5" }).kind).toBe("rate-limited");
    expect(decode(429, body("rate_limit_error", "slow down")).kind).toBe("rate-limited");
  });
});

describe("sentences", () => {
  test("HTML, nothing and nonsense give a neutral one", () => {
    for (const text of ["<html><h1>502</h1></html>", "", "null", '"x"'])
      expect(decode(502, text)).toMatchObject({
        kind: "upstream",
        message: "The provider answered with status 502 and no readable error.",
      });
    for (const text of ["[]", '{"error":{}}'])
      expect(decode(502, text)).toMatchObject({
        kind: "upstream",
        message: "The provider failed with status 502.",
      });
  });

  test("other hosts' shapes: bare error, error as text, detail, FastAPI", () => {
    expect(decode(400, '{"message":"bare"}').message).toBe("bare");
    expect(decode(400, '{"error":"as text"}').message).toBe("as text");
    expect(decode(400, '{"detail":"told"}').message).toBe("told");
    expect(decode(400, '{"error":{"message":"chat shape","type":"x","code":"c"}}')).toMatchObject({
      message: "chat shape",
      code: "c",
    });
  });

  test("nested error JSON is unwrapped", () => {
    const nested = JSON.stringify({
      error: { message: JSON.stringify({ error: { message: "the cause" } }) },
    });
    expect(decode(500, nested).message).toBe("the cause");
  });

  test("hosts, addresses and keys are removed", () => {
    const told = decode(
      400,
      body(
        "invalid_request_error",
        "call to https://api.internal.acme.com/v1?key=1 (10.0.0.7:8443, llm.acme.internal) with sk-ant-api03-abcdef and Bearer abcdefghijk failed at localhost:9",
      ),
    ).message;
    expect(told).toBe("call to [url] ([host], [host]) with [credential] and [credential] failed at [host]");
  });

  test("what only looks like a host stays", () => {
    const message = "messages.0.content.1.text: at least 1.5 is needed; see tool.input for max_tokens 1.0";
    expect(decode(400, body("invalid_request_error", message)).message).toBe(message);
  });

  test("cut at 2000 characters", () => {
    const told = decode(400, body("invalid_request_error", "x".repeat(5000))).message;
    expect(told).toHaveLength(2000);
    expect(told.endsWith("…")).toBe(true);
  });
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

  test("they and x-should-retry reach the error", () => {
    expect(
      decode(429, body("rate_limit_error", "x"), { "retry-after": "3", "x-should-retry": "false" }),
    ).toMatchObject({
      retryAfter: 3,
      shouldRetry: false,
    });
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
