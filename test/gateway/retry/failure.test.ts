/** What each failure means for the next attempt and for the deployment. */
import { describe, expect, test } from "bun:test";
import { Attempt, Call } from "../../../src/core/call.ts";
import type { ErrorFacts, ErrorKind } from "../../../src/core/error.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { Target } from "../../../src/core/provider.ts";
import { type Failure, readFailure } from "../../../src/gateway/retry/failure.ts";
import { HttpError, type Phase, type Reason } from "../../../src/gateway/lanes/transport.ts";

function attemptWith(status: number | undefined, lane: Target["lane"] = "native"): Attempt {
  const call = new Call("req_test", "messages", new Headers());
  const deployment = { name: "a", baseUrl: "", credentials: {}, weight: 1, priority: 0 };
  const provider = { name: "a", deployments: [deployment], source: "built-in", patterns: [] };
  const target = { provider, deployment, model: "m", lane, format: "", url: "", reason: "" };
  const attempt = new Attempt(call, target);
  attempt.upstreamStatus = status;
  return attempt;
}

const met = (code: string, phase: Phase, reason?: Reason): ErrorFacts => ({
  code: "upstream_unreachable",
  cause: new HttpError(code, "x", phase, reason),
});
/** As the runtime's `fetch` throws it. */
const thrown = (code: string): ErrorFacts => ({
  cause: HttpError.from(Object.assign(new Error("x"), { code }), "sent"),
});

type Row = [
  what: string,
  kind: ErrorKind,
  status: number | undefined,
  facts: ErrorFacts,
  means: Partial<Failure>,
];

const ROWS: readonly Row[] = [
  [
    "refused",
    "upstream",
    undefined,
    met("ECONNREFUSED", "connect"),
    { class: "not-sent", verdict: "failing" },
  ],
  ["dns", "upstream", undefined, met("ENOTFOUND", "dns"), { class: "not-sent", verdict: "failing" }],
  [
    "connect-timeout",
    "upstream",
    undefined,
    met("ETIMEDOUT", "connect", "connect-timeout"),
    { class: "not-sent", verdict: "failing" },
  ],
  [
    "tls-expired",
    "upstream",
    undefined,
    met("CERT_HAS_EXPIRED", "tls"),
    { class: "not-sent", verdict: "failing" },
  ],
  [
    "stale",
    "upstream",
    undefined,
    met("ECONNRESET", "sent", "stale"),
    { class: "no-bytes", verdict: "neutral", stale: true },
  ],
  ["reset", "upstream", undefined, met("ECONNRESET", "sent"), { class: "no-bytes", verdict: "failing" }],
  ["protocol", "upstream", undefined, met("EPROTO", "head"), { class: "no-bytes", verdict: "failing" }],
  // Over a proxy the runtime's own client is used, with its own words.
  ["refused", "upstream", undefined, thrown("ConnectionRefused"), { class: "not-sent" }],
  ["reset", "upstream", undefined, thrown("ECONNRESET"), { class: "no-bytes" }],
  ["timeout", "timeout", undefined, { code: "timeout" }, { class: "no-bytes", verdict: "failing" }],
  ["timeout", "timeout", 200, { code: "timeout" }, { class: "no-bytes", verdict: "failing" }],
  [
    "invalid-answer",
    "upstream",
    200,
    { code: "stream_incomplete" },
    { class: "no-bytes", verdict: "failing" },
  ],
  ["invalid-answer", "upstream", 200, { code: "upstream_invalid_answer" }, { class: "status" }],
  ["invalid-answer", "upstream", 200, { code: "upstream_too_large" }, { class: "never" }],
  ["overloaded", "overloaded", 200, {}, { class: "status", verdict: "failing" }],
  ["302", "upstream", 302, {}, { class: "status", verdict: "failing" }],
  ["408", "timeout", 408, {}, { class: "status", verdict: "failing" }],
  ["409", "conflict", 409, {}, { class: "status", verdict: "healthy" }],
  [
    "429",
    "rate-limited",
    429,
    { retryAfter: 2 },
    { class: "status", verdict: "limited", retryAfterMs: 2000 },
  ],
  ["429", "quota", 429, {}, { class: "status", verdict: "refused", repeatable: false }],
  ["401", "upstream-auth", 401, {}, { class: "status", verdict: "refused", repeatable: false }],
  ["500", "upstream", 500, {}, { class: "status", verdict: "failing", repeatable: true }],
  ["500", "upstream", 500, { shouldRetry: false }, { class: "status", repeatable: false }],
  ["503", "overloaded", 503, {}, { class: "status", verdict: "failing" }],
  ["529", "overloaded", 529, {}, { class: "status", verdict: "failing" }],
  ["400", "invalid-request", 400, {}, { class: "never", verdict: "healthy" }],
  ["400", "invalid-request", 400, { code: "context_length_exceeded" }, { class: "never" }],
  ["404", "not-found", 404, {}, { class: "never", verdict: "healthy" }],
  ["413", "too-large", 413, {}, { class: "never", verdict: "healthy" }],
  ["cancelled", "cancelled", undefined, {}, { class: "never", verdict: "neutral" }],
  ["internal", "internal", undefined, {}, { class: "never", verdict: "neutral" }],
];

describe("a failure has its class and its verdict on the deployment", () => {
  for (const [what, kind, status, facts, means] of ROWS)
    test(`${what}: ${kind} ${facts.code ?? ""}`, () => {
      const failure = readFailure(new GatewayError(kind, "x", facts), attemptWith(status));
      expect(failure).toMatchObject({ what, ...means });
    });

  test("a program that fails is asked no second time, and others may answer", () => {
    const attempt = attemptWith(undefined, "generated");
    const overloaded = readFailure(new GatewayError("overloaded", "x"), attempt);
    expect(overloaded).toMatchObject({ class: "status", what: "503", repeatable: false });
    expect(readFailure(new Error("a bug"), attempt)).toMatchObject({
      class: "status",
      what: "500",
      repeatable: false,
    });
    expect(readFailure(new GatewayError("invalid-request", "x"), attempt)).toMatchObject({ class: "never" });
  });

  test("a call that was given up says nothing of the deployment", () => {
    const attempt = attemptWith(undefined);
    attempt.call.abort(new GatewayError("cancelled", "x"));
    expect(readFailure(attempt.call.abortReason, attempt)).toMatchObject({
      class: "never",
      verdict: "neutral",
    });
  });
});
