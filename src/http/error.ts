/** What can go wrong between here and an upstream, told apart by what the upstream may have seen of the request. */

export type HttpErrorCode =
  /** The system's word for a connection that could not be made or broke. */
  | "ECONNREFUSED"
  | "ENOTFOUND"
  | "ECONNRESET"
  | "ETIMEDOUT"
  /** A kept connection turned out to be closed by the other side: it never read the request. */
  | "ESTALE"
  /** What came is not HTTP/1.1 as RFC 9112 has it. */
  | "EPROTO"
  /** Other words of the system, and of TLS. */
  | (string & {});

export class HttpError extends Error {
  readonly code: HttpErrorCode;
  /** Whether the upstream may have read the request, and so may be answering it. */
  readonly sent: boolean;

  constructor(code: HttpErrorCode, message: string, sent: boolean) {
    super(message);
    this.name = "HttpError";
    this.code = code;
    this.sent = sent;
  }
}

/** The answer breaks the rules of its framing; the connection cannot be trusted any more. */
export function malformed(what: string): HttpError {
  return new HttpError("EPROTO", `The answer is not valid HTTP: ${what}.`, true);
}
