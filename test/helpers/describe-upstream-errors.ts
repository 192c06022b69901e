/** What the errors of providers mean: the same, whichever format carries them. */
import { describe, expect, test } from "bun:test";
import type { ErrorKind } from "../../src/core/error.ts";
import type { UpstreamCodec } from "../../src/core/format.ts";
import type { Json } from "../../src/core/json.ts";
import { IS_LONG } from "./effort.ts";

const openai = (message: string, code: string | null = null, type = "invalid_request_error") => ({
  error: { message, type, param: null, code },
});
const anthropic = (type: string, message: string, details?: Record<string, Json>) => ({
  type: "error",
  error: { type, message, ...(details && { details }) },
});

interface Expected {
  kind: ErrorKind;
  status: number;
  code?: string;
}

const ERRORS: [what: string, status: number, body: Json | string, expected: Expected][] = [
  ["a bad request", 400, openai("Bad.", "invalid_value"), of("invalid-request", 400, "invalid_value")],
  ["422 of FastAPI", 422, { detail: [{ loc: ["x"], msg: "Extra" }] }, of("invalid-request", 422)],
  ["402", 402, { error: { message: "Insufficient Balance" } }, of("upstream-auth", 502, "upstream_auth")],
  [
    "401",
    401,
    anthropic("authentication_error", "invalid x-api-key"),
    of("upstream-auth", 502, "upstream_auth"),
  ],
  [
    "an empty account, said with 400",
    400,
    anthropic("invalid_request_error", "Your credit balance is too low to access the API."),
    of("upstream-auth", 502, "upstream_auth"),
  ],
  [
    "a wrong key, said with 400",
    400,
    openai("API key not valid. Please pass a valid API key."),
    of("upstream-auth", 502, "upstream_auth"),
  ],
  [
    "an unknown model",
    404,
    anthropic("not_found_error", "model: x"),
    of("not-found", 404, "model_not_found"),
  ],
  [
    "an unknown model, said with 400",
    400,
    openai("x/y is not a valid model ID"),
    of("invalid-request", 400, "model_not_found"),
  ],
  ["Azure's deployment", 404, openai("gone", "DeploymentNotFound"), of("not-found", 404, "model_not_found")],
  ["too many bytes", 413, anthropic("request_too_large", "Too big"), of("too-large", 413)],
  ["a rate limit", 429, openai("Slow down.", "rate_limit_exceeded", "requests"), of("rate-limited", 429)],
  ["too many tokens a minute", 429, { message: "Too many tokens, wait." }, of("rate-limited", 429)],
  ["no quota by its code", 429, openai("No.", "insufficient_quota"), of("quota", 429)],
  ["no quota by its words", 429, openai("You exceeded your current quota."), of("quota", 429)],
  [
    "a spend limit",
    429,
    anthropic("rate_limit_error", "limit", { error_code: "enforced_spend_limit_reached" }),
    of("quota", 429),
  ],
  ["Groq's flex capacity", 498, openai("capacity exceeded"), of("overloaded", 503)],
  ["overloaded behind a rewritten status", 500, anthropic("overloaded_error", "x"), of("overloaded", 503)],
  [
    "a rate limit behind a rewritten status",
    502,
    anthropic("rate_limit_error", "x"),
    of("rate-limited", 429),
  ],
  ["529", 529, anthropic("overloaded_error", "Overloaded"), of("overloaded", 503)],
  ["503", 503, anthropic("api_error", "x"), of("overloaded", 503)],
  ["504", 504, anthropic("timeout_error", "x"), of("timeout", 504)],
  ["a conflict", 409, anthropic("conflict_error", "x"), of("conflict", 409)],
  ["a model that failed", 424, openai("Model error."), of("upstream", 502)],
  ["a fault", 500, openai("Oops.", null, "server_error"), of("upstream", 502)],
  [
    "the vendor's own code in details",
    400,
    anthropic("invalid_request_error", "x", { error_code: "pdf_too_large" }),
    of("invalid-request", 400, "pdf_too_large"),
  ],
  ["an HTML page", 500, "<html>nginx</html>", of("upstream", 502)],
  ["an HTML page with 404", 404, "<html>not here</html>", of("upstream", 502)],
  ["an HTML page with 403", 403, "<html>blocked</html>", of("upstream-auth", 502, "upstream_auth")],
  ["an HTML page with 429", 429, "slow down", of("rate-limited", 429)],
  ["nothing", 503, "", of("overloaded", 503)],
  ["a list", 500, [], of("upstream", 502)],
  [
    "a prompt too long, known by its code alone",
    400,
    openai("No.", "context_length_exceeded"),
    of("invalid-request", 400, "context_length_exceeded"),
  ],
  ["a bad request of DeepSeek's", 400, openai("Bad.", "invalid_request_error"), of("invalid-request", 400)],
  ["Mistral's wrong key", 401, { detail: "Invalid API Key" }, of("upstream-auth", 502, "upstream_auth")],
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
    of("upstream-auth", 502, "upstream_auth"),
  ],
  ["forbidden", 403, openai("Forbidden"), of("upstream-auth", 502, "upstream_auth")],
  [
    "Azure's deployment",
    404,
    openai("The API deployment for this resource does not exist.", "DeploymentNotFound"),
    of("not-found", 404, "model_not_found"),
  ],
  [
    "Azure's code as a text",
    404,
    { error: { code: "404", message: "Resource not found" } },
    of("not-found", 404),
  ],
  [
    "Mistral's unknown model",
    400,
    { object: "error", message: "Invalid model: x", type: "invalid_model", code: "1500" },
    of("invalid-request", 400, "model_not_found"),
  ],
  [
    "OpenRouter's unknown model",
    400,
    { error: { message: "x/y is not a valid model ID", code: 400 } },
    of("invalid-request", 400, "model_not_found"),
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
    of("rate-limited", 429),
  ],
  [
    "a fault of llama.cpp",
    500,
    { error: { code: 500, message: "tools param requires --jinja flag", type: "server_error" } },
    of("upstream", 502),
  ],
  [
    "xAI's shape",
    400,
    { code: "invalid-argument", error: "Bad." },
    of("invalid-request", 400, "invalid-argument"),
  ],
  ["Venice's shape", 400, { error: "Bad." }, of("invalid-request", 400)],
  [
    "Doubleword's shape",
    400,
    { code: 400, message: "Bad.", type: "Bad Request" },
    of("invalid-request", 400),
  ],
  ["an empty object", 400, {}, of("invalid-request", 400)],
];

/** Types of Anthropic with the statuses that they come with. */
const TYPES: [status: number, type: string, kind: ErrorKind][] = [
  [400, "invalid_request_error", "invalid-request"],
  [422, "invalid_request_error", "invalid-request"],
  [404, "not_found_error", "not-found"],
  [409, "conflict_error", "conflict"],
  [413, "request_too_large", "too-large"],
  [413, "invalid_request_error", "too-large"],
  [429, "rate_limit_error", "rate-limited"],
  [500, "api_error", "upstream"],
  [503, "api_error", "overloaded"],
  [504, "timeout_error", "timeout"],
  [529, "overloaded_error", "overloaded"],
  [500, "overloaded_error", "overloaded"],
  [401, "authentication_error", "upstream-auth"],
  [402, "billing_error", "upstream-auth"],
  [403, "permission_error", "upstream-auth"],
];

function of(kind: ErrorKind, status: number, code?: string): Expected {
  return { kind, status, code };
}

const decode = (codec: UpstreamCodec, status: number, body: Json | string, headers: HeadersInit = {}) =>
  codec.codec.decodeError(
    status,
    new Headers(headers),
    typeof body === "string" ? body : JSON.stringify(body),
  );

/** A body that says by its code or type alone that the prompt is too long. */
const TOO_LONG_BODIES: Json[] = [
  { error: { code: 400, message: "no room", type: "exceed_context_size_error" } },
  openai("No.", "context_length_exceeded"),
];

const TOO_LONG = [
  "This model's maximum context length is 128000 tokens. However, you requested 130000 tokens (129000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
  "prompt is too long: 210000 tokens > 200000 maximum",
  "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
  "capability_rejected: prompt_too_long",
  "request (2009 tokens) exceeds the available context size (512 tokens), try increasing it",
  "the request exceeds the available context size",
  "prompt too long; exceeded max context length by 1119046 tokens",
  "Prompt contains 200000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
  "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
  "Input is too long for requested model.",
  "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
  "Please reduce the length of the messages or completion.",
  "This endpoint's maximum context length is 163840 tokens.",
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  "prompt token count of 150000 exceeds the limit of 128000",
  "Your request exceeded model token limit: 262144 (requested: 300000)",
  "invalid params, context window exceeds limit (2013)",
  "The number of tokens to keep from the initial prompt is greater than the context length.",
  "too many tokens: total number of tokens in the prompt cannot exceed 4081",
];

const NOT_TOO_LONG = [
  "max_tokens is too large: 128000. This model supports at most 16384 completion tokens.",
  "string too long in 'user'",
  "messages.1.content.0: Invalid `signature` in `thinking` block",
  "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for this model",
];

/** Synthetic secrets, put together here so that no scanner takes them for real ones. */
const JWT = `eyJ${"hbGciOiJIUzI1NiJ9"}.${"eyJzdWIiOiIxMjM0NTY3ODkwIn0"}.${"abcDEF123_-"}`;
const SECRETS = [
  `gsk_${"a1".repeat(12)}`,
  `xai-${"b2".repeat(12)}`,
  `sk-ant-api03-${"c3".repeat(10)}`,
  `AKIA${"ABCDEFGH12345678"}`,
  `AIza${"SyA1234567890abcdefghijk"}`,
  JWT,
  "Bearer abcdefghijk",
  "10.0.0.7:8443",
  "fe80::1ff:fe23:4567:890a",
  "2001:db8:0:0:0:0:0:1",
  "[2001:db8::1]:8080",
  "::1",
  "gpu-1.lan",
  "llm.acme.internal",
  "nas.home",
  "https://api.internal.acme.com/v1?key=1",
  "grpc://gpu-1:50051",
  "localhost:11434",
];

/** How far places lie apart where an error is cut: the code that cuts is the same for every format. */
const STEP = IS_LONG ? 1 : 5;

/** Tests that need nothing but the upstream codec: errors in the words of every vendor. */
export function describeUpstreamErrors(codec: UpstreamCodec): void {
  describe("a failed status of a provider", () => {
    test.each(ERRORS)("with %s has its kind, status and code", (_what, status, body, expected) => {
      const { kind, status: answered, code } = decode(codec, status, body);
      expect({ kind, status: answered, code }).toEqual({ code: undefined, ...expected });
    });

    test("has the words of the body where the status is rewritten or missing", () => {
      for (const [status, type, kind] of TYPES)
        expect([type, decode(codec, status, anthropic(type, "x")).kind]).toEqual([type, kind]);
    });

    test("has a neutral sentence if the body is a page, empty or nonsense", () => {
      for (const text of ["<html><h1>502</h1></html>", "", "null", '"x"'])
        expect(decode(codec, 502, text)).toMatchObject({
          kind: "upstream",
          message: "The provider answered with status 502 and no readable error.",
        });
      for (const text of ["[]", '{"error":{}}'])
        expect(decode(codec, 502, text).message).toBe("The provider failed with status 502.");
    });

    test("has its sentence found in every shape, and inside of other errors", () => {
      const inner = JSON.stringify({ error: { message: "The cause.", type: "x" } });
      const bodies: Json[] = [
        { message: "The cause." },
        { error: "The cause." },
        { detail: "The cause." },
        { error: { message: "The cause.", type: "x", code: "c" } },
        [{ error: { code: 400, message: "The cause.", status: "INVALID_ARGUMENT" } }],
        { error: { message: inner } },
        { error: { message: JSON.stringify({ error: { message: inner } }) } },
        { error: { message: "Provider returned error", code: 400, metadata: { raw: inner } } },
      ];
      for (const body of bodies) expect(decode(codec, 400, body).message).toBe("The cause.");
      expect(decode(codec, 400, openai("{not json")).message).toBe("{not json");
    });

    test("has the code and the parameter of the vendor, if they can be ones", () => {
      const detailed = (code: string) => anthropic("invalid_request_error", "x", { error_code: code });
      expect(decode(codec, 400, detailed("pdf_too_large")).code).toBe("pdf_too_large");
      expect(decode(codec, 400, detailed("a b\r\n")).code).toBeUndefined();
      const bad = { error: { message: "Bad.", type: "x", param: "temperature", code: null } };
      expect(decode(codec, 400, bad).param).toBe("temperature");
      expect(decode(codec, 500, bad, { "x-should-retry": "maybe" }).shouldRetry).toBeUndefined();
      expect(decode(codec, 404, anthropic("not_found_error", "Not Found")).code).toBeUndefined();
    });

    test("is a rate limit and no spend limit if it says when to try again", () => {
      const limit = anthropic("rate_limit_error", "limit", { error_code: "enforced_spend_limit_reached" });
      expect(decode(codec, 429, limit, { "retry-after": "5" }).kind).toBe("rate-limited");
    });

    test("about weir's own credential says nothing of it, or of its vendor", () => {
      const error = decode(
        codec,
        401,
        openai("Incorrect API key provided: sk-abcdef. Find it at https://platform.vendor.com."),
      );
      expect(error.message).not.toMatch(/vendor|sk-|key provided/);
      expect(String(error.cause)).toContain("[credential]");
    });

    test("passes on when to try again, and whether", () => {
      const retry = { "retry-after": "7", "x-should-retry": "false" };
      const read = decode(codec, 429, openai("Slow down.", "rate_limit_exceeded"), retry);
      expect([read.retryAfter, read.shouldRetry]).toEqual([7, false]);
    });
  });

  describe("a prompt that is too long is recognised", () => {
    test.each(TOO_LONG)("%s", (message) => {
      for (const body of [openai(message), anthropic("invalid_request_error", message)])
        expect(decode(codec, 400, body)).toMatchObject({
          kind: "invalid-request",
          code: "context_length_exceeded",
        });
    });
    test("by its code or type alone", () => {
      for (const body of TOO_LONG_BODIES)
        expect(decode(codec, 400, body).code).toBe("context_length_exceeded");
    });
    test.each(NOT_TOO_LONG)("but not in: %s", (message) => {
      expect(decode(codec, 400, openai(message)).code).not.toBe("context_length_exceeded");
    });
  });

  describe("hosts, addresses and credentials are masked in an error", () => {
    test.each(SECRETS)("%s", (secret) => {
      const said = decode(codec, 400, openai(`call to ${secret} failed`)).message;
      expect(said).toMatch(/^call to \[(?:url|credential|host)\] failed$/);
    });

    test("all of them in one sentence, which stays readable", () => {
      const message =
        "call to https://api.internal.acme.com/v1?key=1 (10.0.0.7:8443, llm.acme.internal) with sk-ant-api03-abcdef and Bearer abcdefghijk failed at localhost:9";
      expect(decode(codec, 400, openai(message)).message).toBe(
        "call to [url] ([host], [host]) with [credential] and [credential] failed at [host]",
      );
    });

    test("a sentence of more than 2000 characters is cut", () => {
      for (const length of [5_000, 100_000]) {
        const said = decode(codec, 400, openai("x".repeat(length))).message;
        expect(said).toHaveLength(2000);
        expect(said).toEndWith("…");
      }
    });

    test("a credential at the place where the sentence is cut does not leave its half", () => {
      for (const secret of SECRETS)
        for (let at = 1980; at < 2002; at += STEP) {
          const said = decode(codec, 400, openai(`${"y".repeat(at)} ${secret}`)).message;
          expect(said.length).toBeLessThanOrEqual(2000);
          expect(said.replace(/^y+ ?/, "")).toMatch(/^(?:\[[a-z]*\]?)?…?$/);
        }
    });

    test("a credential at the place where reading stops does not leave its half", () => {
      const filler = `https://h.example/${"u".repeat(3940)}`;
      for (let pad = 0; pad < 60; pad += STEP)
        expect(
          decode(codec, 400, openai(`${filler} ${"z".repeat(pad)} AIza${"S7".repeat(30)}`)).message,
        ).not.toContain("AIza");
    });

    test.each([
      "messages.0.content.1.text: at least 1.5 is needed; see tool.input for max_tokens 1.0",
      "at 12:30:45 the tool std::cout::x said a:b",
      "messages.1.content.0: Invalid `signature` in `thinking` block",
    ])("no secret: %s", (message) => {
      expect(decode(codec, 400, openai(message)).message).toBe(message);
    });
  });
}
