import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import type { ErrorKind } from "../../../src/core/error.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { writeFrame } from "../../../src/stream/sse.ts";
import { answer, client, failure, stream, text } from "./make.ts";
import { accumulate } from "./sdk.ts";

describe("status and type by kind", () => {
  const TABLE: Record<ErrorKind, [number, string]> = {
    "invalid-request": [400, "invalid_request_error"],
    authentication: [401, "authentication_error"],
    permission: [403, "permission_error"],
    "not-found": [404, "not_found_error"],
    "method-not-allowed": [405, "invalid_request_error"],
    conflict: [409, "conflict_error"],
    "too-large": [413, "request_too_large"],
    "unsupported-media-type": [415, "invalid_request_error"],
    "rate-limited": [429, "rate_limit_error"],
    quota: [402, "billing_error"],
    overloaded: [529, "overloaded_error"],
    timeout: [504, "timeout_error"],
    upstream: [502, "api_error"],
    "upstream-auth": [502, "api_error"],
    cancelled: [499, "invalid_request_error"],
    internal: [500, "api_error"],
  };
  for (const [kind, [status, type]] of Object.entries(TABLE))
    test(kind, () => {
      const encoded = client.codec.encodeError(new GatewayError(kind as ErrorKind, "what happened"), "req_1");
      expect(encoded.status).toBe(status);
      expect(encoded.body).toEqual({
        type: "error",
        error: { type, message: "what happened" },
        request_id: "req_1",
      });
    });

  test("a status of the error's own wins, and its code is the discriminator", () => {
    const error = new GatewayError("invalid-request", "x", { status: 422, code: "bad_thing" });
    const encoded = client.codec.encodeError(error, "req_1");
    expect(encoded.status).toBe(422);
    expect((encoded.body.error as JsonObject).details).toEqual({ error_code: "bad_thing" });
  });
});

describe("headers", () => {
  const headersOf = (...facts: ConstructorParameters<typeof GatewayError>) =>
    client.codec.encodeError(new GatewayError(...facts), "r").headers;

  test("retry-after in whole seconds, at most a minute", () => {
    expect(headersOf("rate-limited", "x", { retryAfter: 1.2 })).toEqual({ "retry-after": "2" });
    expect(headersOf("rate-limited", "x", { retryAfter: 7200 })).toEqual({ "retry-after": "60" });
    expect(headersOf("rate-limited", "x")).toEqual({});
  });

  test("used-up quota is not to be tried again", () => {
    expect(headersOf("quota", "x")).toEqual({ "x-should-retry": "false" });
    expect(headersOf("overloaded", "x", { shouldRetry: true })).toEqual({ "x-should-retry": "true" });
  });

  test("headers of the error itself are kept", () => {
    expect(headersOf("method-not-allowed", "x", { headers: { allow: "POST" } })).toEqual({ allow: "POST" });
  });
});

describe("every vendor's overflow in the words clients recover by", () => {
  const WORDINGS: [string, string][] = [
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130532 tokens. Please reduce the length of the messages.",
      "130532 tokens > 128000 maximum",
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
      "5000 tokens > 4096 maximum",
    ],
    [
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      "1200000 tokens > 1048576 maximum",
    ],
    [
      "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
      "9000 tokens > 8192 maximum",
    ],
    ["Prompt contains 70,000 tokens, which exceeds the limit of 65,536", "70000 tokens > 65536 maximum"],
  ];
  const messageOf = (wording: string) => {
    const error = new GatewayError("invalid-request", wording, { code: "context_length_exceeded" });
    return String((client.codec.encodeError(error, "r").body.error as JsonObject).message);
  };
  for (const [wording, told] of WORDINGS)
    test(wording.slice(0, 40), () => {
      expect(messageOf(wording)).toBe(`prompt is too long: ${told} (capability_rejected: prompt_too_long)`);
    });

  test("without numbers the sentence stays behind the token", () => {
    expect(messageOf("Input is too long for requested model.")).toBe(
      "prompt is too long (capability_rejected: prompt_too_long): Input is too long for requested model.",
    );
  });

  test("the vendor's own wordings stay as they are", () => {
    for (const own of [
      "prompt is too long: 210000 tokens > 200000 maximum",
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
    ])
      expect(messageOf(own)).toBe(own);
  });

  test("other errors are left alone", () => {
    const error = new GatewayError(
      "invalid-request",
      "This model's maximum context length is 5 tokens, 6 requested",
    );
    expect((client.codec.encodeError(error, "r").body.error as JsonObject).message).toBe(error.message);
  });
});

describe("errors in mid-stream", () => {
  const overloaded = new GatewayError("overloaded", "Overloaded");

  test("one event with the id, and nothing behind it", () => {
    expect(client.codec.encodeStreamError(overloaded, "req_1")).toEqual([
      {
        event: "error",
        data: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}',
      },
    ]);
  });

  test("the SDK raises it with type and message, though a block is open", async () => {
    const frames = [
      ...stream(answer(text(0, "a"))).slice(0, 3),
      ...client.codec.encodeStreamError(overloaded, "req_1"),
    ];
    const thrown = await accumulate(frames).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Anthropic.APIError);
    expect((thrown as InstanceType<typeof Anthropic.APIError>).message).toContain("Overloaded");
    expect(JSON.stringify((thrown as InstanceType<typeof Anthropic.APIError>).error)).toContain(
      "overloaded_error",
    );
    expect(frames.map(writeFrame).join("")).not.toContain("message_stop");
  });
});

test("before the first byte the SDK's class follows", async () => {
  const cases: [GatewayError, unknown][] = [
    [new GatewayError("overloaded", "x"), Anthropic.InternalServerError],
    [new GatewayError("rate-limited", "x"), Anthropic.RateLimitError],
    [new GatewayError("invalid-request", "x"), Anthropic.BadRequestError],
    [new GatewayError("not-found", "x"), Anthropic.NotFoundError],
  ];
  for (const [error, kind] of cases) {
    const { status, headers, body } = client.codec.encodeError(error, "req_9");
    const sdk = new Anthropic({
      apiKey: "k",
      maxRetries: 0,
      fetch: async () =>
        new Response(JSON.stringify(body), {
          status,
          headers: { ...headers, "content-type": "application/json", "request-id": "req_9" },
        }),
    });
    const thrown = await sdk.messages
      .create({ model: "m", max_tokens: 1, messages: [{ role: "user", content: "x" }] })
      .catch((caught: unknown) => caught);
    expect(thrown).toBeInstanceOf(kind as new () => Error);
    expect((thrown as InstanceType<typeof Anthropic.APIError>).requestID).toBe("req_9");
  }
  expect(await failure(() => Promise.reject(new GatewayError("quota", "x")))).toBeInstanceOf(GatewayError);
});
