/** Failed statuses of Bedrock: their kinds, and what the client reads. */
import { describe, expect, test } from "bun:test";
import { upstream } from "./make.ts";

const ARN = "http://internal.amazon.com/coral/com.amazon.bedrock/";

const decode = (status: number, name: string, message: string, more: object = {}) =>
  upstream.codec.decodeError(
    status,
    new Headers({ "x-amzn-errortype": `${name}:${ARN}` }),
    JSON.stringify({ message, ...more }),
  );

describe("the name of the exception decides", () => {
  const cases: [number, string, string, string | undefined][] = [
    [403, "ExpiredTokenException", "upstream-auth", "upstream_auth"],
    [403, "UnrecognizedClientException", "upstream-auth", "upstream_auth"],
    [403, "InvalidSignatureException", "upstream-auth", "upstream_auth"],
    [403, "AccessDeniedException", "upstream-auth", "upstream_auth"],
    [400, "ServiceQuotaExceededException", "quota", undefined],
    [429, "ThrottlingException", "rate-limited", undefined],
    [400, "ThrottlingException", "rate-limited", undefined],
    [429, "ModelNotReadyException", "overloaded", undefined],
    [408, "ModelTimeoutException", "timeout", undefined],
    [424, "ModelErrorException", "upstream", undefined],
    [503, "ServiceUnavailableException", "overloaded", undefined],
    [500, "InternalServerException", "upstream", undefined],
    [400, "ValidationException", "invalid-request", undefined],
  ];
  test.each(cases)("%d %s is %s", (status, name, kind, code) => {
    const error = decode(status, name, "What happened.");
    expect([error.kind, error.code]).toEqual([kind as typeof error.kind, code]);
  });

  test("also from the body, with the message in either spelling", () => {
    const body = JSON.stringify({
      __type: "com.amazon.coral.service#ThrottlingException",
      Message: "Slow down.",
    });
    expect(upstream.codec.decodeError(400, new Headers(), body)).toMatchObject({
      kind: "rate-limited",
      message: "Slow down.",
    });
  });
});

describe("the sentence decides", () => {
  test("a model that needs an inference profile: the client is told what to use", () => {
    const said = "Invocation of model ID x.y with on-demand throughput isn’t supported.";
    const error = decode(400, "ValidationException", said);
    expect(error.status).toBe(400);
    expect(error.message).toBe(
      `${said} Use the id of an inference profile as the model: the same id with the prefix of your geography, such as us. or eu.`,
    );
  });

  test("a prompt that is too long has the code that clients look for", () => {
    for (const said of [
      "Input is too long for requested model.",
      "prompt is too long: 210000 tokens > 200000 maximum",
    ])
      expect(decode(400, "ValidationException", said)).toMatchObject({
        kind: "invalid-request",
        code: "context_length_exceeded",
      });
  });

  test("tokens of a day are a quota, tokens of a minute a rate limit", () => {
    expect(
      decode(429, "ThrottlingException", "Too many tokens per day, please wait before trying again."),
    ).toMatchObject({ kind: "quota", shouldRetry: false });
    expect(decode(429, "ThrottlingException", "Too many tokens, please wait before trying again.").kind).toBe(
      "rate-limited",
    );
  });

  test("a model that is unknown or has been retired is not found", () => {
    expect(decode(400, "ValidationException", "The provided model identifier is invalid.").code).toBe(
      "model_not_found",
    );
    expect(
      decode(404, "ResourceNotFoundException", "This model version has reached the end of its life."),
    ).toMatchObject({ kind: "not-found", code: "model_not_found" });
  });

  test("refused reasoning is recognised, so that weir can repeat the request without it", () => {
    const said =
      "The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block";
    expect(decode(400, "ValidationException", said).refused).toBe("reasoning");
  });

  test("a refusal of the model itself is not repeated", () => {
    expect(decode(424, "ModelErrorException", "x", { originalStatusCode: 400 }).shouldRetry).toBe(false);
    expect(decode(424, "ModelErrorException", "x", { originalStatusCode: 500 }).shouldRetry).toBeUndefined();
  });
});

test("a page of a proxy is judged by its status", () => {
  expect(upstream.codec.decodeError(503, new Headers(), "<html>Service Unavailable</html>").kind).toBe(
    "overloaded",
  );
});
