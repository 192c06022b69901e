import { describe, expect, test } from "bun:test";
import type { Json } from "../../../src/core/json.ts";
import { readRetryAfter } from "../../../src/formats/shared/retry-after.ts";
import { upstream } from "./make.ts";

const decode = (status: number, body: Json | string, headers: Record<string, string> = {}) =>
  upstream.codec.decodeError(
    status,
    new Headers(headers),
    typeof body === "string" ? body : JSON.stringify(body),
  );
const openai = (
  message: string,
  code: string | null = null,
  type = "invalid_request_error",
  param: string | null = null,
) => ({ error: { message, type, param, code } });

describe("how long to wait", () => {
  const now = Date.parse("2026-11-21T00:00:00Z");
  const wait = (headers: Record<string, string>, body?: Json) =>
    readRetryAfter(new Headers(headers), body, now);

  const cases: [what: string, headers: Record<string, string>, seconds: number | undefined][] = [
    ["seconds", { "retry-after": "7" }, 7],
    ["milliseconds win", { "retry-after-ms": "1500", "retry-after": "7" }, 1.5],
    ["Azure's zero beside a real wait", { "retry-after-ms": "0", "retry-after": "7" }, 7],
    ["an HTTP date", { "retry-after": "Sat, 21 Nov 2026 00:00:30 GMT" }, 30],
    ["a date gone by", { "retry-after": "Sat, 21 Nov 2020 00:00:30 GMT" }, 0],
    ["a span", { "retry-after": "1m30s" }, 90],
    [
      "a limit that is used up",
      { "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s" },
      360,
    ],
    [
      "the longest of two",
      {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "20ms",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "2.5s",
      },
      2.5,
    ],
    [
      "a limit with something left",
      { "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "6m0s" },
      undefined,
    ],
    [
      "Azure's limit that is not counted",
      { "x-ratelimit-remaining-tokens": "-1", "x-ratelimit-reset-tokens": "6m0s" },
      undefined,
    ],
    ["milliseconds of the epoch", { "x-ratelimit-reset": String(now + 4000) }, 4],
    ["seconds of the epoch", { "x-ratelimit-reset": String(now / 1000 + 9) }, 9],
    ["nonsense", { "retry-after": "soon", "x-ratelimit-reset-tokens": "" }, undefined],
    ["nothing", {}, undefined],
  ];
  test.each(cases)("%s", (_what, headers, seconds) => expect(wait(headers)).toBe(seconds));

  test("Google's retryDelay, and the sentence alone", () => {
    expect(wait({}, { error: { details: [{ "@type": "x" }, { retryDelay: "3.5s" }] } })).toBe(3.5);
    expect(wait({}, openai("Rate limit reached. Please try again in 6.2s."))).toBe(6.2);
    expect(wait({}, openai("Please try again in 1m2s."))).toBe(62);
    expect(wait({}, openai("Please try again in 20ms."))).toBe(0.02);
  });

  test("it is on the error of what may be over after a while, and nowhere else", () => {
    expect(decode(429, openai("x"), { "retry-after": "3" }).retryAfter).toBe(3);
    expect(decode(503, openai("x"), { "retry-after": "3" }).retryAfter).toBe(3);
    expect(decode(500, openai("x"), { "retry-after": "3" }).retryAfter).toBe(3);
    expect(decode(502, "<html>", { "retry-after": "3" }).retryAfter).toBe(3);
    expect(decode(400, openai("x"), { "retry-after": "3" }).retryAfter).toBeUndefined();
  });
});
