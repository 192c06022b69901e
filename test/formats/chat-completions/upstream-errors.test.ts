import { expect, test } from "bun:test";
import { client, upstream } from "./make.ts";

test("the client hears of quota that another try is of no use", () => {
  const { status, headers, body } = client.codec.encodeError(
    upstream.codec.decodeError(
      429,
      new Headers(),
      JSON.stringify({ error: { message: "No.", code: "insufficient_quota" } }),
    ),
    "r",
  );
  expect({ status, headers }).toEqual({ status: 429, headers: { "x-should-retry": "false" } });
  expect(body).toMatchObject({ error: { type: "insufficient_quota", code: "insufficient_quota" } });
});

test("headers that pass: limits and timing; never who pays, who asks, or cookies", () => {
  const passes = (names: readonly string[], name: string) =>
    names.some((allowed) =>
      allowed.endsWith("*") ? name.startsWith(allowed.slice(0, -1)) : allowed === name,
    );
  for (const name of [
    "x-ratelimit-remaining-tokens",
    "openai-processing-ms",
    "openai-version",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
  ])
    expect(passes(upstream.address.answerHeaders, name)).toBeTrue();
  expect(passes(upstream.address.requestHeaders, "openai-beta")).toBeTrue();
  for (const name of [
    "openai-organization",
    "openai-project",
    "authorization",
    "api-key",
    "cookie",
    "set-cookie",
    "x-forwarded-for",
    "x-real-ip",
    "cf-ray",
  ]) {
    expect(passes(upstream.address.answerHeaders, name)).toBeFalse();
    expect(passes(upstream.address.requestHeaders, name)).toBeFalse();
  }
});
