/**
 * The error type of the gateway. It is thrown where the fault is known; the client codec of the route renders it. Any other
 * thrown value becomes `internal` with a neutral message.
 */
import type { JsonObject } from "./json.ts";
import { limitText } from "./printable.ts";

export type ErrorKind =
  | "invalid-request"
  | "authentication"
  | "permission"
  | "not-found"
  | "method-not-allowed"
  | "conflict"
  | "too-large"
  | "unsupported-media-type"
  | "rate-limited"
  | "quota"
  | "overloaded"
  | "timeout"
  | "upstream"
  | "upstream-auth"
  | "cancelled"
  | "internal";

/** HTTP status of each kind, unless the format or the error itself sets another. */
export const STATUS: Record<ErrorKind, number> = {
  "invalid-request": 400,
  authentication: 401,
  permission: 403,
  "not-found": 404,
  "method-not-allowed": 405,
  conflict: 409,
  "too-large": 413,
  "unsupported-media-type": 415,
  "rate-limited": 429,
  quota: 429,
  overloaded: 503,
  timeout: 504,
  upstream: 502,
  "upstream-auth": 502,
  cancelled: 499,
  internal: 500,
};

/** Parts of a request without which weir can repeat it: earlier reasoning, optional features that a header names. */
export type Refusable = "reasoning" | "features";

/** The words of a provider about its failure, for the operator of weir. Hosts and credentials are masked. */
export interface Said {
  /** Its own code or type (`overloaded_error`), unchanged. */
  code?: string;
  message?: string;
}

export interface ErrorFacts {
  /** A stable identifier for programs (`model_not_found`, `context_length_exceeded`). */
  code?: string;
  /** JSON path of the invalid field, as the client wrote it (`messages[2].content`). */
  param?: string;
  /** Further data for programs; a messages client finds it beside `error_code`. */
  details?: JsonObject;
  /** Overrides the kind's status. */
  status?: number;
  /** Seconds until a retry makes sense. */
  retryAfter?: number;
  /** Tells the SDKs whether to retry (`x-should-retry`). */
  shouldRetry?: boolean;
  /** The part that the provider refused, if weir can repeat the request without it. Clients do not see it. */
  refused?: Refusable;
  /** Further answer headers, for example `allow` or `www-authenticate`. */
  headers?: Record<string, string>;
  /** Clients do not see it. */
  said?: Said;
  cause?: unknown;
}

/** An error that clients can meet, as the OpenAPI document lists it. */
export interface DocumentedError {
  kind: ErrorKind;
  /** Absent for errors without a code. */
  code?: string;
  /** The condition under which weir answers so: one sentence. */
  when: string;
  /** Overrides the kind's status. */
  status?: number;
}

/** Maximum lengths of a message and of a path, parts of which clients and providers choose. Bytes. */
const MESSAGE_BYTES = 4096;
const PARAM_BYTES = 256;

export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly kind: ErrorKind;
  readonly code?: string;
  readonly param?: string;
  readonly details?: JsonObject;
  readonly status: number;
  readonly retryAfter?: number;
  readonly shouldRetry?: boolean;
  readonly refused?: Refusable;
  readonly headers?: Record<string, string>;
  readonly said?: Said;

  /** @param message states what happened, where, and what to do next; the client gets it unchanged */
  constructor(kind: ErrorKind, message: string, facts: ErrorFacts = {}) {
    super(limitText(message, MESSAGE_BYTES), { cause: facts.cause });
    this.kind = kind;
    this.code = facts.code;
    this.param = facts.param === undefined ? undefined : limitText(facts.param, PARAM_BYTES);
    this.details = facts.details;
    this.status = facts.status ?? STATUS[kind];
    this.retryAfter = facts.retryAfter;
    this.shouldRetry = facts.shouldRetry;
    this.refused = facts.refused;
    this.headers = facts.headers;
    this.said = facts.said;
  }

  /** A copy of the error with some facts replaced. */
  with(facts: ErrorFacts): GatewayError {
    const { code, param, details, status, retryAfter, shouldRetry, refused, headers, said, cause } = this;
    return new GatewayError(this.kind, this.message, {
      ...{ code, param, details, status, retryAfter, shouldRetry, refused, headers, said, cause },
      ...facts,
    });
  }

  /** The same error with another message. */
  reworded(message: string): GatewayError {
    const { kind, code, param, details, status, retryAfter, shouldRetry, refused, headers, said, cause } =
      this;
    return new GatewayError(kind, message, {
      ...{ code, param, details, status, retryAfter, shouldRetry, refused, headers, said, cause },
    });
  }

  /** Converts any thrown value to a GatewayError with a message that reveals no internals. */
  static from(thrown: unknown): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    return new GatewayError(
      "internal",
      "The gateway failed while it handled this request; its log has the details.",
      {
        cause: thrown,
      },
    );
  }
}

/** An error for a request that the client must change. @param param JSON path as the client wrote it */
export function invalidRequest(message: string, param?: string, code?: string): GatewayError {
  return new GatewayError("invalid-request", message, { param, code });
}
