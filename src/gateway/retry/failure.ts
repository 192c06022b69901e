/** Classifies a failed attempt: whether weir may retry, where, and what the circuit breaker learns from it. */
import type { Attempt, FailureClass } from "../../core/call.ts";
import type { ErrorKind } from "../../core/error.ts";
import { GatewayError } from "../../core/error.ts";
import type { FailureCause } from "../../core/failure-policy.ts";
import { LedgerRefusal } from "../../core/refusal.ts";
import { HttpError, type Reason, reasonOf } from "../lanes/transport.ts";

export interface Failure {
  class: FailureClass;
  /** For the policies of the config; absent: they do not apply, because the request is at fault or no attempt was made. */
  cause?: FailureCause;
  /** One word for log and headers: the provider's status, or `refused`, `timeout`, `reset`… */
  what: string;
  error: GatewayError;
  /** The provider's `retry-after`. Milliseconds. */
  retryAfterMs?: number;
  /** Whether weir may retry at the same deployment after a pause. */
  repeatable: boolean;
  /** The provider closed a reused connection without an answer; it may have read the request. */
  stale: boolean;
  /** The prompt is too long for the model; another model may accept it. */
  tooLong: boolean;
  verdict: HealthVerdict;
}

/**
 * The meaning of the failure for the deployment. `neutral`: nothing. `healthy`: it works, the request was at fault. `failing`:
 * it fails. `limited`: rate limit. `refused`: it refuses weir's credential, or the account has no funds.
 */
export type HealthVerdict = "neutral" | "healthy" | "failing" | "limited" | "refused";

interface Meaning {
  class: FailureClass;
  verdict: HealthVerdict;
  /** Default: true. */
  repeatable?: boolean;
}

const REQUEST_FAULT: Meaning = { class: "never", verdict: "healthy" };
const NO_EVIDENCE: Meaning = { class: "never", verdict: "neutral" };
const FAILING: Meaning = { class: "status", verdict: "failing" };
const REFUSED: Meaning = { class: "status", verdict: "refused", repeatable: false };

const BY_KIND: Record<ErrorKind, Meaning> = {
  "invalid-request": REQUEST_FAULT,
  authentication: NO_EVIDENCE,
  permission: NO_EVIDENCE,
  "not-found": REQUEST_FAULT,
  "method-not-allowed": REQUEST_FAULT,
  conflict: { class: "status", verdict: "healthy" },
  "too-large": REQUEST_FAULT,
  "unsupported-media-type": REQUEST_FAULT,
  "rate-limited": { class: "status", verdict: "limited" },
  quota: REFUSED,
  overloaded: FAILING,
  timeout: FAILING,
  upstream: FAILING,
  "upstream-auth": REFUSED,
  cancelled: NO_EVIDENCE,
  internal: NO_EVIDENCE,
};

/** The host works, and the model may do better when it is asked again. */
const MISWRITTEN: Meaning = { class: "status", verdict: "healthy" };

/** Codes with another meaning than their kind. */
const BY_CODE: ReadonlyMap<string | undefined, Meaning> = new Map([
  ["malformed_tool_call", MISWRITTEN],
  ["empty_answer", MISWRITTEN],
]);

/** @param thrown what the attempt threw */
export function readFailure(thrown: unknown, attempt: Attempt): Failure {
  const error = GatewayError.from(thrown);
  const meaning = meaningOf(error, attempt);
  return {
    ...meaning,
    ...(meaning.class !== "never" && { cause: causeOf(error) }),
    what: wordFor(error, attempt),
    error,
    retryAfterMs: error.retryAfter === undefined ? undefined : error.retryAfter * 1000,
    repeatable: error.shouldRetry !== false && (meaning.repeatable ?? true),
    stale: reasonOf(error.cause) === "stale",
    tooLong: error.code === "context_length_exceeded",
  };
}

/** A rule of the gateway refused the target: no attempt was made. */
export function readRefusal(error: LedgerRefusal): Failure {
  return {
    class: error.perTarget ? "not-sent" : "never",
    verdict: "neutral",
    what: error.reason,
    error,
    repeatable: false,
    stale: false,
    tooLong: false,
  };
}

/** Whether no attempt was made, because a rule of the gateway refused the target. */
export function isRefusal({ error }: Failure): boolean {
  return error instanceof LedgerRefusal;
}

function meaningOf(error: GatewayError, { call, target, upstreamStatus }: Attempt): Meaning {
  // The whole call was aborted: the client disconnected, or the deadline of the call expired.
  if (call.abortReason) return NO_EVIDENCE;
  const isProgram = target.lane === "generated";
  // A program runs in this process: there is no connection phase, and a retry would give the same result.
  if (isProgram && error.kind === "internal") return { ...FAILING, repeatable: false };
  const meaning = BY_CODE.get(error.code) ?? BY_KIND[error.kind];
  if (isProgram) return { ...meaning, repeatable: false };
  if (meaning.class === "never" || error.code === "upstream_too_large") return { ...meaning, class: "never" };
  if (error.code === "stream_incomplete") return { class: "no-bytes", verdict: "failing" };
  const isOwnTimeout = error.kind === "timeout" && error.code === "timeout";
  if (upstreamStatus !== undefined && !isOwnTimeout) return meaning;
  const stale = reasonOf(error.cause) === "stale";
  return { class: wasSent(error.cause) ? "no-bytes" : "not-sent", verdict: stale ? "neutral" : "failing" };
}

const CAUSE_BY_KIND: Readonly<Partial<Record<string, FailureCause>>> = {
  "rate-limited": "rateLimited",
  overloaded: "overloaded",
  timeout: "timeout",
  quota: "authentication",
  "upstream-auth": "authentication",
};

const CAUSE_BY_CODE: ReadonlyMap<string | undefined, FailureCause> = new Map([
  ["stream_incomplete", "connection"],
  ["upstream_invalid_answer", "invalidAnswer"],
  ["upstream_too_large", "invalidAnswer"],
  ["malformed_tool_call", "invalidAnswer"],
  ["empty_answer", "invalidAnswer"],
]);

/** Reasons of the transport that are no fault of the connection. */
const CAUSE_BY_REASON: Readonly<Partial<Record<Reason, FailureCause>>> = {
  "connect-timeout": "timeout",
  authorization: "authentication",
  protocol: "invalidAnswer",
};

/** The cause of a failure, before or after the first byte of the answer. @param error as thrown, or as the call keeps it */
export function causeOf(error: { kind: string; code?: string; cause?: unknown }): FailureCause {
  const reason = reasonOf(error.cause);
  const known = CAUSE_BY_CODE.get(error.code);
  if (known) return known;
  if (reason) return CAUSE_BY_REASON[reason] ?? "connection";
  return CAUSE_BY_KIND[error.kind] ?? "serverError";
}

function wasSent(cause: unknown): boolean {
  return !(cause instanceof HttpError) || cause.sent;
}

function wordFor(error: GatewayError, { target, upstreamStatus }: Attempt): string {
  const reason = reasonOf(error.cause);
  if (reason) return reason;
  const status = upstreamStatus ?? (target.lane === "generated" ? error.status : undefined);
  if (status !== undefined && (status < 200 || status > 299)) return String(status);
  return error.kind === "upstream" ? "invalid-answer" : error.kind;
}
