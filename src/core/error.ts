/**
 * The one error of the gateway. It is raised where the fact is known and rendered once, by the client codec of the route
 * that was called. Anything else that is thrown becomes `internal` with a neutral sentence.
 */
import type { JsonObject } from "./json.ts";
import { limitText } from "./limit-text.ts";

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

/** Status by kind, where neither the dialect nor the error itself says otherwise. */
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

export interface ErrorFacts {
  /** A stable word for programs (`model_not_found`, `context_length_exceeded`). */
  code?: string;
  /** The JSON path of the field at fault, in the client's own spelling (`messages[2].content`). */
  param?: string;
  /** Further facts for programs; a messages client finds them beside `error_code`. */
  details?: JsonObject;
  /** Overrides the status of the kind. */
  status?: number;
  /** Seconds until another try makes sense. */
  retryAfter?: number;
  /** Tells the SDKs whether to try again (`x-should-retry`). */
  shouldRetry?: boolean;
  /** Further answer headers, for example `allow` or `www-authenticate`. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** Clients and providers choose parts of a sentence and of a path; what is longer is cut. Bytes. */
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
  readonly headers?: Record<string, string>;

  /** @param message says what happened, where, and what to do next; it reaches the client as it is. */
  constructor(kind: ErrorKind, message: string, facts: ErrorFacts = {}) {
    super(limitText(message, MESSAGE_BYTES), { cause: facts.cause });
    this.kind = kind;
    this.code = facts.code;
    this.param = facts.param === undefined ? undefined : limitText(facts.param, PARAM_BYTES);
    this.details = facts.details;
    this.status = facts.status ?? STATUS[kind];
    this.retryAfter = facts.retryAfter;
    this.shouldRetry = facts.shouldRetry;
    this.headers = facts.headers;
  }

  /** The same error with some of its facts exchanged. */
  with(facts: ErrorFacts): GatewayError {
    const { code, param, details, status, retryAfter, shouldRetry, headers, cause } = this;
    return new GatewayError(this.kind, this.message, {
      ...{ code, param, details, status, retryAfter, shouldRetry, headers, cause },
      ...facts,
    });
  }

  /** Turns anything thrown into a GatewayError whose sentence gives nothing away. */
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

/** A request the caller must change. `param` is the JSON path in the caller's own spelling. */
export function invalidRequest(message: string, param?: string, code?: string): GatewayError {
  return new GatewayError("invalid-request", message, { param, code });
}
