/** Failed answers of Google's hosts. */
import { expect, test } from "bun:test";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { upstream } from "./make.ts";

const decode = (status: number, body: Json) =>
  upstream.codec.decodeError(status, new Headers(), JSON.stringify(body));
const failure = (code: number, status: string, message: string, details: JsonObject[] = []) => ({
  error: { code, message, status, details },
});
const QUOTA = "You exceeded your current quota, please check your plan and billing details.";
const DELAY: JsonObject = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "48.9s" };
const violated = (quotaId: string): JsonObject => ({ violations: [{ quotaId }] });

test("a limit of a minute is a rate limit with its delay, also in a list; one of a day is a quota", () => {
  const minute = failure(429, "RESOURCE_EXHAUSTED", QUOTA, [violated("InputTokensPerModelPerMinute"), DELAY]);
  for (const body of [minute, [minute]])
    expect(decode(429, body)).toMatchObject({ kind: "rate-limited", retryAfter: 48.9 });
  const day = failure(429, "RESOURCE_EXHAUSTED", QUOTA, [violated("RequestsPerDayPerModel-FreeTier"), DELAY]);
  expect(decode(429, day)).toMatchObject({ kind: "quota", shouldRetry: false });
});

test("a wrong key is the operator's fault and not told in the provider's words", () => {
  const error = decode(
    400,
    failure(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
  );
  expect(error).toMatchObject({ kind: "upstream-auth", status: 502 });
  expect(error.message).not.toContain("API key not valid");
});

test("other failures have their kinds", () => {
  const tooLong = "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).";
  expect(decode(400, failure(400, "INVALID_ARGUMENT", tooLong))).toMatchObject({
    kind: "invalid-request",
    code: "context_length_exceeded",
  });
  const place = "User location is not supported for the API use.";
  expect(decode(400, failure(400, "FAILED_PRECONDITION", place)).kind).toBe("permission");
  expect(decode(404, failure(404, "NOT_FOUND", "models/x is not found")).code).toBe("model_not_found");
  expect(decode(499, failure(499, "CANCELLED", "The operation was cancelled.")).kind).toBe("timeout");
  expect(decode(503, failure(503, "UNAVAILABLE", "overloaded")).kind).toBe("overloaded");
  const unsigned = "Function call is missing a thought_signature in functionCall parts.";
  expect(decode(400, failure(400, "INVALID_ARGUMENT", unsigned)).refused).toBe("reasoning");
});
