/** What a failed attempt means: whether another may follow, where, and what it says about the deployment. */
import type { Call, FailureClass } from "../core/call.ts";
import type { ErrorKind } from "../core/error.ts";
import { GatewayError } from "../core/error.ts";
import { HttpError } from "./transport.ts";

export interface Failure {
  class: FailureClass;
  /** One word for log and headers: the upstream's status, or `refused`, `timeout`, `reset`… */
  what: string;
  error: GatewayError;
  /** How long the upstream wants to be left alone. Milliseconds. */
  retryAfterMs?: number;
  /** Whether the same deployment may be asked again after a pause. */
  repeatable: boolean;
  /** A kept connection was closed before the request was read: nothing happened at all. */
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

/** Words for what the transport met. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused",
  ConnectionRefused: "refused",
  ENOTFOUND: "dns",
  FailedToOpenSocket: "dns",
  ETIMEDOUT: "connect-timeout",
  ECONNRESET: "reset",
  ConnectionClosed: "reset",
  ESTALE: "stale",
  EPROTO: "protocol",
};

/** Errors of the runtime's own client in front of which nothing was sent; ours say so themselves. */
const UNSENT = new Set(["ConnectionRefused", "ECONNREFUSED", "ENOTFOUND", "FailedToOpenSocket"]);

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
    stale: codeOf(error.cause) === "ESTALE",
    tooLong: error.code === "context_length_exceeded",
  };
}

function meaningOf(error: GatewayError, call: Call): Meaning {
  // Given up as a whole: by the client, or by a deadline that is the client's own.
  if (call.givenUp) return OUR_OWN;
  const generated = call.target?.lane === "generated";
  // A program has no connection that could be told apart from its answer; asking it again would give the same.
  if (generated && error.kind === "internal") return { ...FAILING, repeatable: false };
  const meaning = BY_KIND[error.kind];
  if (generated) return { ...meaning, repeatable: false };
  if (meaning.class === "never" || error.code === "upstream_too_large") return { ...meaning, class: "never" };
  if (error.code === "stream_incomplete") return { class: "no-bytes", verdict: "failing" };
  const ownClock = error.kind === "timeout" && error.code === "timeout";
  if (call.upstreamStatus !== undefined && !ownClock) return meaning;
  const stale = codeOf(error.cause) === "ESTALE";
  return { class: wasSent(error.cause) ? "no-bytes" : "not-sent", verdict: stale ? "innocent" : "failing" };
}

function wasSent(cause: unknown): boolean {
  if (cause instanceof HttpError) return cause.sent;
  const code = codeOf(cause);
  return !UNSENT.has(code) && !isTls(code);
}

function wordFor(error: GatewayError, call: Call): string {
  const code = codeOf(error.cause);
  const word = WORDS[code] ?? (isTls(code) ? "tls" : undefined);
  if (word) return word;
  const status = call.upstreamStatus ?? (call.target?.lane === "generated" ? error.status : undefined);
  if (status !== undefined && (status < 200 || status > 299)) return String(status);
  return error.kind === "upstream" ? "invalid-answer" : error.kind;
}

function codeOf(cause: unknown): string {
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
}

function isTls(code: string): boolean {
  return /CERT|TLS|SSL|SELF_SIGNED/.test(code);
}
