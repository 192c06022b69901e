import { describe, expect, test } from "bun:test";
import type { ErrorKind } from "../../../src/core/error.ts";
import type { Json } from "../../../src/core/json.ts";
import { client, upstream } from "./make.ts";

const decode = (status: number, body: Json | string, headers: Record<string, string> = {}) =>
  upstream.decodeError(status, new Headers(headers), typeof body === "string" ? body : JSON.stringify(body));
const openai = (
  message: string,
  code: string | null = null,
  type = "invalid_request_error",
  param: string | null = null,
) => ({ error: { message, type, param, code } });

describe("what a failed status means", () => {
  const cases: [
    what: string,
    status: number,
    body: Json | string,
    kind: ErrorKind,
    answered: number,
    code: string | undefined,
  ][] = [
    ["a bad request", 400, openai("Bad.", "invalid_value"), "invalid-request", 400, "invalid_value"],
    [
      "a bad request of DeepSeek's",
      400,
      openai("Bad.", "invalid_request_error"),
      "invalid-request",
      400,
      undefined,
    ],
    [
      "422",
      422,
      { detail: [{ loc: ["body", "x"], msg: "Extra inputs are not permitted" }] },
      "invalid-request",
      422,
      undefined,
    ],
    [
      "a wrong key",
      401,
      openai("Incorrect API key provided: sk-abc.", "invalid_api_key"),
      "upstream-auth",
      502,
      "upstream_auth",
    ],
    ["Mistral's wrong key", 401, { detail: "Invalid API Key" }, "upstream-auth", 502, "upstream_auth"],
    [
      "Gemini's wrong key",
      400,
      [
        {
          error: {
            code: 400,
            message: "API key not valid. Please pass a valid API key.",
            status: "INVALID_ARGUMENT",
          },
        },
      ],
      "upstream-auth",
      502,
      "upstream_auth",
    ],
    ["no funds", 402, { error: { message: "Insufficient Balance" } }, "upstream-auth", 502, "upstream_auth"],
    ["forbidden", 403, openai("Forbidden"), "upstream-auth", 502, "upstream_auth"],
    [
      "an unknown model",
      404,
      openai("The model `x` does not exist", "model_not_found"),
      "not-found",
      404,
      "model_not_found",
    ],
    [
      "Azure's deployment",
      404,
      openai("The API deployment for this resource does not exist.", "DeploymentNotFound"),
      "not-found",
      404,
      "model_not_found",
    ],
    [
      "Azure's code as a text",
      404,
      { error: { code: "404", message: "Resource not found" } },
      "not-found",
      404,
      undefined,
    ],
    [
      "Mistral's unknown model",
      400,
      { object: "error", message: "Invalid model: x", type: "invalid_model", code: "1500" },
      "invalid-request",
      400,
      "model_not_found",
    ],
    [
      "OpenRouter's unknown model",
      400,
      { error: { message: "x/y is not a valid model ID", code: 400 } },
      "invalid-request",
      400,
      "model_not_found",
    ],
    ["too large", 413, openai("Too large."), "too-large", 413, undefined],
    [
      "a rate limit",
      429,
      openai("Slow down.", "rate_limit_exceeded", "requests"),
      "rate-limited",
      429,
      undefined,
    ],
    [
      "OpenRouter's rate limit",
      429,
      {
        error: {
          code: 429,
          message: "Provider returned error",
          metadata: { raw: "x is temporarily rate-limited upstream" },
        },
      },
      "rate-limited",
      429,
      undefined,
    ],
    [
      "no quota",
      429,
      openai("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"),
      "quota",
      429,
      undefined,
    ],
    [
      "no quota by its words",
      429,
      openai("You exceeded your current quota, please check your plan."),
      "quota",
      429,
      undefined,
    ],
    [
      "too many tokens a minute",
      429,
      { message: "Too many tokens, please wait before trying again." },
      "rate-limited",
      429,
      undefined,
    ],
    ["a fault", 500, openai("Oops.", null, "server_error"), "upstream", 502, undefined],
    [
      "a fault of llama.cpp",
      500,
      { error: { code: 500, message: "tools param requires --jinja flag", type: "server_error" } },
      "upstream",
      502,
      undefined,
    ],
    ["overloaded", 503, openai("Busy."), "overloaded", 503, undefined],
    [
      "529",
      529,
      { error: { type: "overloaded_error", message: "Overloaded" } },
      "overloaded",
      503,
      undefined,
    ],
    ["Groq's flex capacity", 498, openai("capacity exceeded"), "overloaded", 503, undefined],
    ["a timeout", 504, openai("Late."), "timeout", 504, undefined],
    ["a model that failed", 424, openai("Model error."), "upstream", 502, undefined],
    ["an HTML page", 500, "<html>nginx</html>", "upstream", 502, undefined],
    ["an HTML page with 404", 404, "<html>not here</html>", "upstream", 502, undefined],
    ["an HTML page with 429", 429, "slow down", "rate-limited", 429, undefined],
    ["an HTML page with 503", 503, "", "overloaded", 503, undefined],
    ["an HTML page with 403", 403, "<html>blocked</html>", "upstream-auth", 502, "upstream_auth"],
    [
      "xAI's shape",
      400,
      { code: "invalid-argument", error: "Bad." },
      "invalid-request",
      400,
      "invalid-argument",
    ],
    ["Venice's shape", 400, { error: "Bad." }, "invalid-request", 400, undefined],
    [
      "Doubleword's shape",
      400,
      { code: 400, message: "Bad.", type: "Bad Request" },
      "invalid-request",
      400,
      undefined,
    ],
    ["an empty object", 400, {}, "invalid-request", 400, undefined],
  ];
  test.each(cases)("%s", (_what, status, body, kind, answered, code) => {
    const error = decode(status, body);
    expect(error.kind).toBe(kind);
    expect(error.status).toBe(answered);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(/\S/);
  });

  test("the client hears of quota that another try is of no use", () => {
    const { status, headers, body } = client.encodeError(
      decode(429, openai("No.", "insufficient_quota")),
      "r",
    );
    expect({ status, headers }).toEqual({ status: 429, headers: { "x-should-retry": "false" } });
    expect(body).toMatchObject({ error: { type: "insufficient_quota", code: "insufficient_quota" } });
  });

  test("the param is kept, and whether to retry", () => {
    expect(decode(400, openai("Bad.", null, "x", "temperature")).param).toBe("temperature");
    expect(decode(500, openai("x"), { "x-should-retry": "false" }).shouldRetry).toBeFalse();
    expect(decode(500, openai("x"), { "x-should-retry": "maybe" }).shouldRetry).toBeUndefined();
  });
});

describe("a prompt that does not fit, in the words of many", () => {
  const wordings = [
    "This model's maximum context length is 128000 tokens. However, you requested 130000 tokens (129000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "request (2009 tokens) exceeds the available context size (512 tokens), try increasing it",
    "prompt too long; exceeded max context length by 1119046 tokens",
    "Prompt contains 200000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
    "Input is too long for requested model.",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens): context window exceeded",
    "Please reduce the length of the messages or completion.",
    "This endpoint's maximum context length is 163840 tokens.",
  ];
  test.each(wordings)("%s", (message) => {
    const error = decode(400, openai(message, "invalid_request_error"));
    expect(error).toMatchObject({ kind: "invalid-request", code: "context_length_exceeded", status: 400 });
  });

  test("llama.cpp by its type, OpenAI by its code", () => {
    expect(
      decode(400, {
        error: {
          code: 400,
          message: "the request exceeds the available context size",
          type: "exceed_context_size_error",
        },
      }).code,
    ).toBe("context_length_exceeded");
    expect(
      decode(400, openai("Your input exceeds the context window of this model.", "context_length_exceeded"))
        .code,
    ).toBe("context_length_exceeded");
  });

  test("other sentences about length are not taken for it", () => {
    for (const message of [
      "max_tokens is too large: 128000. This model supports at most 16384 completion tokens.",
      "string too long in 'user'",
    ])
      expect(decode(400, openai(message, "invalid_value")).code).toBe("invalid_value");
  });
});

describe("what reaches the client of the sentence", () => {
  const sentence = (message: string) => decode(400, openai(message)).message;

  test("errors in errors are unwrapped", () => {
    const inner = JSON.stringify({ error: { message: "The real one.", type: "x" } });
    expect(sentence(inner)).toBe("The real one.");
    expect(sentence(JSON.stringify({ error: { message: inner } }))).toBe("The real one.");
    const raw = {
      error: { message: "Provider returned error", code: 400, metadata: { raw: inner, provider_name: "X" } },
    };
    expect(decode(400, raw).message).toBe("The real one.");
    expect(
      decode(400, [{ error: { code: 400, message: "In a list.", status: "INVALID_ARGUMENT" } }]).message,
    ).toBe("In a list.");
    expect(sentence("{not json")).toBe("{not json");
  });

  test("hosts, addresses and keys are taken out", () => {
    const dirty =
      "POST https://eu.api.vendor.com/v1?key=1 failed at 10.0.3.7:8080, node-1.cluster.local:443, localhost:11434 with Bearer abcdefgh123 and sk-proj-abcdef123456";
    const clean = sentence(dirty);
    for (const secret of ["vendor", "10.0.3.7", "cluster", "localhost", "abcdefgh", "sk-proj"])
      expect(clean).not.toContain(secret);
    expect(clean).toContain("failed at");
  });

  test("2000 characters at most, and never half of a secret", () => {
    expect(sentence("x".repeat(5000))).toHaveLength(2000);
    expect(sentence(`${"y ".repeat(985)} sk-${"k".repeat(60)}`)).not.toContain("kkk");
    expect(sentence("x".repeat(100_000))).toHaveLength(2000);
  });

  test("the gateway's own credential is never spoken of", () => {
    const error = decode(
      401,
      openai("Incorrect API key provided: sk-abcdef. Find it at https://platform.vendor.com."),
    );
    expect(error.message).not.toMatch(/vendor|sk-|key provided/);
    expect(String(error.cause)).toContain("[credential]");
  });
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
    expect(passes(upstream.answerHeaders, name)).toBeTrue();
  expect(passes(upstream.requestHeaders, "openai-beta")).toBeTrue();
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
    expect(passes(upstream.answerHeaders, name)).toBeFalse();
    expect(passes(upstream.requestHeaders, name)).toBeFalse();
  }
});
