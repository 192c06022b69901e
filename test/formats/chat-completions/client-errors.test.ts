import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type ErrorKind, GatewayError, invalidRequest, STATUS } from "../../../src/core/error.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { client } from "./make.ts";
import { accumulate, thrownFor } from "./sdk.ts";

const encode = (error: GatewayError) => client.codec.encodeError(error, "req_1");
const errorIn = (body: JsonObject) => body.error as JsonObject;

describe("errors before the first byte", () => {
  const cases: [kind: ErrorKind, status: number, type: string, code: string | null][] = [
    ["invalid-request", 400, "invalid_request_error", null],
    ["authentication", 401, "invalid_request_error", "invalid_api_key"],
    ["permission", 403, "invalid_request_error", null],
    ["not-found", 404, "invalid_request_error", null],
    ["conflict", 409, "invalid_request_error", null],
    ["too-large", 413, "invalid_request_error", "request_too_large"],
    ["rate-limited", 429, "rate_limit_error", "rate_limit_exceeded"],
    ["quota", 429, "insufficient_quota", "insufficient_quota"],
    ["overloaded", 503, "service_unavailable_error", "server_is_overloaded"],
    ["timeout", 504, "server_error", "timeout"],
    ["upstream", 502, "server_error", null],
    ["upstream-auth", 502, "server_error", "upstream_auth"],
    ["internal", 500, "server_error", null],
  ];
  test.each(cases)("%s is %d %s", (kind, status, type, code) => {
    const answer = encode(new GatewayError(kind, "What happened."));
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error: { message: "What happened.", type, param: null, code } });
  });

  test("every kind has a type and keeps the status an error sets itself", () => {
    for (const kind of Object.keys(STATUS) as ErrorKind[]) {
      expect(errorIn(encode(new GatewayError(kind, "x")).body).type).toBeString();
      expect(encode(new GatewayError(kind, "x", { status: 418 })).status).toBe(418);
    }
  });

  test("param and code are those of the error", () => {
    const { body } = encode(invalidRequest("No.", "messages[2].role", "invalid_value"));
    expect(errorIn(body)).toMatchObject({ param: "messages[2].role", code: "invalid_value" });
  });

  test("retry-after in whole seconds, 60 at most; quota tells the SDK to stop", () => {
    const waits = (seconds: number) =>
      encode(new GatewayError("rate-limited", "x", { retryAfter: seconds })).headers["retry-after"];
    expect([waits(0.2), waits(7), waits(3600), waits(-5)]).toEqual(["1", "7", "60", "0"]);
    expect(encode(new GatewayError("quota", "x")).headers).toEqual({ "x-should-retry": "false" });
    expect(encode(new GatewayError("upstream", "x", { shouldRetry: true })).headers).toEqual({
      "x-should-retry": "true",
    });
    expect(encode(new GatewayError("upstream", "x")).headers).toEqual({});
  });

  test("a 401 has a challenge; headers of the error itself are kept", () => {
    expect(encode(new GatewayError("authentication", "x")).headers).toEqual({ "www-authenticate": "Bearer" });
    expect(
      encode(new GatewayError("method-not-allowed", "x", { headers: { allow: "POST" } })).headers,
    ).toEqual({ allow: "POST" });
  });

  test("the SDK makes its own classes of them", async () => {
    const classes: [ErrorKind, { name: string }][] = [
      ["invalid-request", OpenAI.BadRequestError],
      ["authentication", OpenAI.AuthenticationError],
      ["not-found", OpenAI.NotFoundError],
      ["rate-limited", OpenAI.RateLimitError],
      ["overloaded", OpenAI.InternalServerError],
    ];
    for (const [kind, expected] of classes) {
      const thrown = await thrownFor(encode(new GatewayError(kind, "What happened.", { param: "model" })));
      expect(thrown.constructor.name).toBe(expected.name);
      expect(thrown.message).toContain("What happened.");
      expect(thrown.param).toBe("model");
    }
  });
});

describe("errors after the first byte", () => {
  test("one unnamed frame with a text for a message, and no terminator", () => {
    const frames = client.codec.encodeStreamError(new GatewayError("overloaded", "Busy."), "req_1");
    expect(frames).toHaveLength(1);
    expect(frames[0]!.event).toBeUndefined();
    expect(JSON.parse(frames[0]!.data)).toEqual({
      error: {
        message: "Busy.",
        type: "service_unavailable_error",
        param: null,
        code: "server_is_overloaded",
      },
    });
  });

  test("the SDK raises it", async () => {
    const frames = client.codec.encodeStreamError(
      new GatewayError("upstream", "Cut.", { code: "stream_incomplete" }),
      "req_1",
    );
    const thrown = await accumulate(frames).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(OpenAI.APIError);
    expect(thrown).toMatchObject({
      code: "stream_incomplete",
      type: "server_error",
      error: { message: "Cut." },
    });
  });
});

test("the heartbeat is a comment line of its own, never an event", () => {
  expect(client.codec.framing.heartbeat).toBe(": keepalive\n\n");
});
