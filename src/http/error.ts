/** Failures of a request to a provider: the phase in which it failed and the reason. */

/**
 * The phase in which a request failed: `dns`, `connect` and `tls` precede the first byte of the request; `sent` precedes the
 * first byte of the answer; `head` and `body` are inside the answer.
 */
export type Phase = "dns" | "connect" | "tls" | "sent" | "head" | "body";

/** Why a request failed, as the end of the sentence "The provider NAME …". The log contains the keys. */
const REASONS = {
  dns: "has an address that does not resolve",
  refused: "refused the connection",
  unreachable: "could not be reached",
  "connect-timeout": "did not accept the connection in time",
  tls: "failed the TLS check",
  "tls-untrusted": "failed the TLS check: no trusted authority vouches for its certificate",
  "tls-expired": "failed the TLS check: its certificate has expired or is not valid yet",
  "tls-name": "failed the TLS check: its certificate is for another name",
  http2: "speaks HTTP/2 only; weir speaks HTTP/1.1 to providers",
  proxy: "could not be reached through the proxy",
  authorization: "was not called, because weir failed to authorize the request",
  stale: "closed the connection before it answered",
  reset: "closed the connection before it answered",
  protocol: "sent something that is not HTTP/1.1",
} as const;

export type Reason = keyof typeof REASONS;

/** Reasons by error code of the system, of OpenSSL and of the runtime's `fetch`. */
const BY_CODE: Readonly<Record<string, Reason>> = {
  ENOTFOUND: "dns",
  EAI_AGAIN: "dns",
  FailedToOpenSocket: "dns",
  ECONNREFUSED: "refused",
  ConnectionRefused: "refused",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  EADDRNOTAVAIL: "unreachable",
  EMFILE: "unreachable",
  ECONNRESET: "reset",
  EPIPE: "reset",
  ConnectionClosed: "reset",
  EPROTO: "protocol",
  Malformed_HTTP_Response: "protocol",
  CERT_HAS_EXPIRED: "tls-expired",
  CERT_NOT_YET_VALID: "tls-expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "tls-name",
  HOSTNAME_MISMATCH: "tls-name",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls-untrusted",
  SELF_SIGNED_CERT_IN_CHAIN: "tls-untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "tls-untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls-untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls-untrusted",
  CERT_UNTRUSTED: "tls-untrusted",
  INVALID_CA: "tls-untrusted",
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: "http2",
  ERR_PROXY: "proxy",
  ProxyConnectFailed: "proxy",
};
const TLS_CODE = /CERT|TLS|SSL|SELF_SIGNED|SIGNATURE/;

/** The phase of reasons that occur in a single phase. */
const PHASES: Partial<Record<Reason, Phase>> = {
  dns: "dns",
  refused: "connect",
  unreachable: "connect",
  "connect-timeout": "connect",
  proxy: "connect",
  tls: "tls",
  "tls-untrusted": "tls",
  "tls-expired": "tls",
  "tls-name": "tls",
};

export class HttpError extends Error {
  /** Error code of the system, of OpenSSL or of weir (`ETIMEDOUT`, `EPROTO`). */
  readonly code: string;
  readonly phase: Phase;
  readonly reason: Reason;

  /** @param reason derived from the code when absent */
  constructor(code: string, message: string, phase: Phase, reason = reasonOf({ code }) ?? unknown(phase)) {
    super(message);
    this.name = "HttpError";
    this.code = code;
    this.phase = phase;
    this.reason = reason;
  }

  /** Whether the provider may have received the request and may be processing it. */
  get sent(): boolean {
    return isSent(this.phase);
  }

  /**
   * Converts an error of a socket or of the runtime's `fetch`.
   * @param phase where it failed, unless the reason determines the phase
   */
  static from(cause: unknown, phase: Phase): HttpError {
    if (cause instanceof HttpError) return cause;
    const code = codeOf(cause) ?? "ECONNRESET";
    const message = cause instanceof Error ? cause.message : "The connection was closed.";
    const reason = reasonOf({ code }) ?? unknown(phase);
    return new HttpError(code, message, PHASES[reason] ?? phase, reason);
  }
}

function unknown(phase: Phase): Reason {
  return isSent(phase) ? "reset" : phase === "tls" ? "tls" : "unreachable";
}

function isSent(phase: Phase): boolean {
  return phase === "sent" || phase === "head" || phase === "body";
}

/** The reason of a failed request; undefined for errors that are not failures of a connection. */
export function reasonOf(cause: unknown): Reason | undefined {
  if (cause instanceof HttpError) return cause.reason;
  const code = codeOf(cause);
  if (code === undefined) return undefined;
  return BY_CODE[code] ?? (TLS_CODE.test(code) ? "tls" : undefined);
}

/** The end of the sentence "The provider NAME …". */
export function describeReason(reason: Reason): string {
  return REASONS[reason];
}

function codeOf(cause: unknown): string | undefined {
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : undefined;
}

/** An error for an answer with invalid framing. The connection cannot be reused. */
export function malformed(what: string, phase: Phase = "head"): HttpError {
  return new HttpError("EPROTO", `The answer is not valid HTTP: ${what}.`, phase);
}
