/** How the mock fails: each failure as a provider would bring it about, seen from behind the gateway's upstream side. */
import type { ErrorKind } from "weir";
import { GatewayError } from "weir";

interface Fault {
  kind: ErrorKind;
  /** Overrides the status of the kind. */
  status?: number;
  code?: string;
  /** Seconds. */
  retryAfter?: number;
  says: string;
}

/** What a provider's status means to the client of a gateway. */
const FAULTS: Readonly<Record<number, Fault>> = {
  400: { kind: "invalid-request", code: "invalid_value", says: "found a value it does not take" },
  401: { kind: "upstream-auth", code: "upstream_auth", says: "refused the gateway's key" },
  402: { kind: "upstream-auth", code: "upstream_auth", says: "has no funds left on the gateway's account" },
  403: { kind: "upstream-auth", code: "upstream_auth", says: "does not let the gateway's key do this" },
  404: { kind: "not-found", code: "model_not_found", says: "does not know the model" },
  408: { kind: "timeout", code: "timeout", says: "waited too long for the request" },
  409: { kind: "conflict", says: "is busy with a request that excludes this one" },
  413: { kind: "too-large", code: "request_too_large", says: "found the request too large" },
  422: {
    kind: "invalid-request",
    status: 422,
    code: "invalid_value",
    says: "could not work with the request",
  },
  429: {
    kind: "rate-limited",
    code: "rate_limit_exceeded",
    retryAfter: 1,
    says: "limits the rate of requests; try again in 1 second",
  },
  500: { kind: "upstream", code: "upstream_error", says: "failed inside" },
  502: { kind: "upstream", code: "upstream_error", says: "got no answer from the server behind it" },
  503: {
    kind: "overloaded",
    code: "server_is_overloaded",
    retryAfter: 1,
    says: "is not available; try again in 1 second",
  },
  504: { kind: "timeout", code: "timeout", says: "took too long" },
  529: {
    kind: "overloaded",
    code: "server_is_overloaded",
    retryAfter: 1,
    says: "is overloaded; try again in 1 second",
  },
};

/** The statuses there is an `error-<status>` model for. */
export const FAULT_STATUSES: readonly number[] = Object.keys(FAULTS).map(Number);

/** The error of a provider that answers with this status; absent for a status the mock does not play. */
export function failWithStatus(status: number): GatewayError | undefined {
  const fault = FAULTS[status];
  if (!fault) return undefined;
  const { kind, says, ...facts } = fault;
  return new GatewayError(kind, `The mock ${says} (as a provider that answers ${status}).`, facts);
}

/** A page of something in between, as a gateway understands it: its status can be believed, its text cannot. */
export function failWithPage(status: number): GatewayError | undefined {
  const kind = FAULTS[status]?.kind;
  if (kind === undefined || status < 500) return undefined;
  return new GatewayError(
    kind === "invalid-request" ? "upstream" : kind,
    `The mock answered with status ${status} and a page instead of an error (as a proxy in front of a provider does).`,
  );
}

/** Too many requests, with the time to come back. @param seconds until then */
export function failLimited(seconds: number): GatewayError {
  return new GatewayError(
    "rate-limited",
    `The mock limits the rate of requests; try again in ${seconds} s.`,
    {
      code: "rate_limit_exceeded",
      retryAfter: seconds,
    },
  );
}

/** A conversation that does not fit; clients that compact theirs look for the code. */
export function failTooLong(): GatewayError {
  return new GatewayError(
    "invalid-request",
    "This model's maximum context length is 8192 tokens, and the conversation is longer (the mock says so of any).",
    { code: "context_length_exceeded", param: "messages" },
  );
}

/** What comes is no part of an answer. */
export function failGarbled(): GatewayError {
  return new GatewayError(
    "upstream",
    "The mock sent something in its stream that is not part of an answer.",
    {
      code: "upstream_invalid_answer",
    },
  );
}

export function failOverloaded(): GatewayError {
  return new GatewayError("overloaded", "The mock became overloaded in the middle of its answer.", {
    code: "server_is_overloaded",
  });
}

export function failCut(): GatewayError {
  return new GatewayError("upstream", "The mock's stream broke off before its answer was whole.", {
    code: "stream_incomplete",
  });
}

/** Stands in what `throw` throws; no client may ever read it. */
export const CANARY = "weir-mock-canary-5d41402a";

/** What a bug in a plugin looks like: an error that is nobody's answer. */
export function failPlainly(): Error {
  return new Error(`${CANARY}: a text that must not leave the gateway`);
}

const calls = new Map<number, number>();

/** Fails the given share of calls, spread evenly and counted for the life of the process. */
export function failSometimes(percent: number): GatewayError | undefined {
  const call = (calls.get(percent) ?? 0) + 1;
  calls.set(percent, call);
  const fails = Math.floor((call * percent) / 100) > Math.floor(((call - 1) * percent) / 100);
  return fails ? failWithStatus(503) : undefined;
}
