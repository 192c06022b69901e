/** What clients learn of a refused token: little, and the same for all reasons that would help somebody who guesses. */
import { type ErrorFacts, type ErrorKind, GatewayError } from "../../core/error.ts";
import type { Reason, TokenFault } from "./tokens/fault.ts";

interface Refusal {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly sentence: string;
  readonly retryAfter?: number;
}

const INVALID: Refusal = {
  kind: "authentication",
  code: "invalid_token",
  sentence: "The token is not valid for this gateway; get a new one, or ask the gateway's operator.",
};

const REFUSALS: Readonly<Partial<Record<Reason, Refusal>>> = {
  expired: {
    kind: "authentication",
    code: "token_expired",
    sentence: "The token has expired; get a new one.",
  },
  revoked: {
    kind: "authentication",
    code: "token_revoked",
    sentence: "The token was revoked; get a new one, or ask the gateway's operator.",
  },
  suspended: {
    kind: "permission",
    code: "person_suspended",
    sentence: "Your access to this gateway is suspended; ask its operator.",
  },
  "unknown-person": {
    kind: "permission",
    code: "person_unknown",
    sentence: "You are not known to this gateway, or in no group that may use models; ask its operator.",
  },
  unavailable: {
    kind: "overloaded",
    code: "token_unchecked",
    sentence: "The gateway cannot check tokens at the moment; retry in 5 s.",
    retryAfter: 5,
  },
};

/** The error for a client. */
export function refusalOf({ reason }: Pick<TokenFault, "reason">): GatewayError {
  const { kind, code, sentence, retryAfter } = REFUSALS[reason] ?? INVALID;
  const facts: ErrorFacts = {
    code,
    ...(retryAfter === undefined ? { shouldRetry: false } : { retryAfter }),
    ...(kind === "authentication" && { headers: { "www-authenticate": 'Bearer error="invalid_token"' } }),
  };
  return new GatewayError(kind, sentence, facts);
}
