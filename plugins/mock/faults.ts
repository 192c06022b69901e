/** The mock's failures: the errors that weir would make of a failing provider. */
import type { ErrorKind } from "weir";
import { GatewayError } from "weir";

interface Fault {
  kind: ErrorKind;
  /** Overrides the status of the kind. */
  status?: number;
  code?: string;
  /** Seconds. */
  retryAfter?: number;
  message: string;
}

/** The error for each status of a provider. */
const FAULTS: Readonly<Record<number, Fault>> = {
  400: { kind: "invalid-request", code: "invalid_value", message: "rejected a value in the request" },
  401: { kind: "upstream-auth", code: "upstream_auth", message: "rejected weir's API key" },
  402: {
    kind: "upstream-auth",
    code: "upstream_auth",
    message: "reported that weir's account has no credit",
  },
  403: {
    kind: "upstream-auth",
    code: "upstream_auth",
    message: "does not permit this request to weir's API key",
  },
  404: { kind: "not-found", code: "model_not_found", message: "does not know the model" },
  408: { kind: "timeout", code: "timeout", message: "timed out waiting for the request" },
  409: { kind: "conflict", message: "reported a conflict with another request" },
  413: { kind: "too-large", code: "request_too_large", message: "rejected the request as too large" },
  422: {
    kind: "invalid-request",
    status: 422,
    code: "invalid_value",
    message: "could not process the request",
  },
  429: {
    kind: "rate-limited",
    code: "rate_limit_exceeded",
    retryAfter: 1,
    message: "reached its rate limit; try again in 1 second",
  },
  500: { kind: "upstream", code: "upstream_error", message: "failed with an internal error" },
  502: { kind: "upstream", code: "upstream_error", message: "got no answer from its upstream server" },
  503: {
    kind: "overloaded",
    code: "server_is_overloaded",
    retryAfter: 1,
    message: "is not available; try again in 1 second",
  },
  504: { kind: "timeout", code: "timeout", message: "timed out" },
  529: {
    kind: "overloaded",
    code: "server_is_overloaded",
    retryAfter: 1,
    message: "is overloaded; try again in 1 second",
  },
};

/** Statuses of the models `error-<status>`. */
export const FAULT_STATUSES: readonly number[] = Object.keys(FAULTS).map(Number);

/** Returns the error for this status; `undefined` if the mock does not have it. */
export function failWithStatus(status: number): GatewayError | undefined {
  const fault = FAULTS[status];
  if (!fault) return undefined;
  const { kind, message, ...facts } = fault;
  return new GatewayError(kind, `The mock ${message} (as a provider that answers ${status}).`, facts);
}

/** Returns the error that weir makes of a proxy's HTML page: only the status counts. */
export function failWithPage(status: number): GatewayError | undefined {
  const kind = FAULTS[status]?.kind;
  if (kind === undefined || status < 500) return undefined;
  return new GatewayError(
    kind === "invalid-request" ? "upstream" : kind,
    `The mock answered with status ${status} and a page instead of an error (like a proxy before a provider).`,
  );
}

/** Returns a rate limit error. @param seconds value of retry-after */
export function failLimited(seconds: number): GatewayError {
  return new GatewayError("rate-limited", `The mock reached its rate limit; try again in ${seconds} s.`, {
    code: "rate_limit_exceeded",
    retryAfter: seconds,
  });
}

/** Returns the error for a prompt that is too long; clients that compact their history look for the code. */
export function failTooLong(): GatewayError {
  return new GatewayError(
    "invalid-request",
    "This model's maximum context length is 8192 tokens, and the conversation is longer (the mock reports this for every request).",
    { code: "context_length_exceeded", param: "messages" },
  );
}

/** Returns the error for a stream event that weir cannot read. */
export function failGarbled(): GatewayError {
  return new GatewayError("upstream", "The mock sent a stream event that is not a JSON object.", {
    code: "upstream_invalid_answer",
  });
}

export function failOverloaded(): GatewayError {
  return new GatewayError("overloaded", "The mock became overloaded in the middle of its answer.", {
    code: "server_is_overloaded",
  });
}

export function failCut(): GatewayError {
  return new GatewayError("upstream", "The mock's stream ended before the answer was complete.", {
    code: "stream_incomplete",
  });
}

/** Part of the message that `throw` throws; it must never reach a client. */
export const CANARY = "weir-mock-canary-5d41402a";

/** Returns an error as a bug in a plugin throws it: not a `GatewayError`. */
export function failPlainly(): Error {
  return new Error(`${CANARY}: a text that must not leave the gateway`);
}

const calls = new Map<number, number>();

/** Fails this share of calls, spread evenly and counted since the start of the process. */
export function failSometimes(percent: number): GatewayError | undefined {
  const call = (calls.get(percent) ?? 0) + 1;
  calls.set(percent, call);
  const fails = Math.floor((call * percent) / 100) > Math.floor(((call - 1) * percent) / 100);
  return fails ? failWithStatus(503) : undefined;
}
