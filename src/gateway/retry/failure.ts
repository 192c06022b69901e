/** What a failed attempt means: whether another may follow, where, and what it says about the deployment. */
import type { Call, FailureClass } from "../../core/call.ts";
import type { ErrorKind } from "../../core/error.ts";
import { GatewayError } from "../../core/error.ts";
import { HttpError, reasonOf } from "../lanes/transport.ts";

export interface Failure {
  class: FailureClass;
  /** One word for log and headers: the upstream's status, or `refused`, `timeout`, `reset`… */
  what: string;
  error: GatewayError;
  /** How long the upstream wants to be left alone. Milliseconds. */
  retryAfterMs?: number;
  /** Whether the same deployment may be asked again after a pause. */
  repeatable: boolean;
  /** A kept connection was closed without an answer; the upstream may have read the request all the same. */
  stale: boolean;
  /** The prompt does not fit into the model; it may fit into another. */
  tooLong: boolean;
  verdict: Verdict;
}

/**
 * What it says about the deployment: nothing; that it works, because the request was at fault; that it fails; that it has
 * had enough calls; that it refuses our credential.
 */
export type Verdict = "innocent" | "healthy" | "failing" | "limited" | "refused";

interface Meaning {
  class: FailureClass;
  verdict: Verdict;
  /** Default true for what may be tried again at all. */
  repeatable?: boolean;
}

const HOPELESS: Meaning = { class: "never", verdict: "healthy" };
const OUR_OWN: Meaning = { class: "never", verdict: "innocent" };
const FAILING: Meaning = { class: "status", verdict: "failing" };
const REFUSED: Meaning = { class: "status", verdict: "refused", repeatable: false };

const BY_KIND: Record<ErrorKind, Meaning> = {
  "invalid-request": HOPELESS,
  authentication: OUR_OWN,
  permission: OUR_OWN,
  "not-found": HOPELESS,
  "method-not-allowed": HOPELESS,
  conflict: { class: "status", verdict: "healthy" },
  "too-large": HOPELESS,
  "unsupported-media-type": HOPELESS,
  "rate-limited": { class: "status", verdict: "limited" },
  quota: REFUSED,
  overloaded: FAILING,
  timeout: FAILING,
  upstream: FAILING,
  "upstream-auth": REFUSED,
  cancelled: OUR_OWN,
  internal: OUR_OWN,
};

/** @param thrown by the attempt that runs for the call */
export function readFailure(thrown: unknown, call: Call): Failure {
  const error = GatewayError.from(thrown);
  const meaning = meaningOf(error, call);
  return {
    ...meaning,
    what: wordFor(error, call),
    error,
    retryAfterMs: error.retryAfter === undefined ? undefined : error.retryAfter * 1000,
    repeatable: error.shouldRetry !== false && (meaning.repeatable ?? true),
    stale: reasonOf(error.cause) === "stale",
    tooLong: error.code === "context_length_exceeded",
  };
}

function meaningOf(error: GatewayError, call: Call): Meaning {
  // Given up as a whole: by the client, or by a deadline that is the client's own.
  if (call.abortReason) return OUR_OWN;
  const generated = call.target?.lane === "generated";
  // A program has no connection that could be told apart from its answer; asking it again would give the same.
  if (generated && error.kind === "internal") return { ...FAILING, repeatable: false };
  const meaning = BY_KIND[error.kind];
  if (generated) return { ...meaning, repeatable: false };
  if (meaning.class === "never" || error.code === "upstream_too_large") return { ...meaning, class: "never" };
  if (error.code === "stream_incomplete") return { class: "no-bytes", verdict: "failing" };
  const ownClock = error.kind === "timeout" && error.code === "timeout";
  if (call.upstreamStatus !== undefined && !ownClock) return meaning;
  const stale = reasonOf(error.cause) === "stale";
  return { class: wasSent(error.cause) ? "no-bytes" : "not-sent", verdict: stale ? "innocent" : "failing" };
}

function wasSent(cause: unknown): boolean {
  return !(cause instanceof HttpError) || cause.sent;
}

function wordFor(error: GatewayError, call: Call): string {
  const reason = reasonOf(error.cause);
  if (reason) return reason;
  const status = call.upstreamStatus ?? (call.target?.lane === "generated" ? error.status : undefined);
  if (status !== undefined && (status < 200 || status > 299)) return String(status);
  return error.kind === "upstream" ? "invalid-answer" : error.kind;
}
