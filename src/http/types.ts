/** The interface of a transport: one request, one answer. Callers decide what a failure means. */
import type { HeaderReader } from "../core/headers.ts";
import type { TlsSettings } from "../core/provider.ts";
import type { Stoppable } from "../core/stop.ts";

/** `GET` and `DELETE` have no body. */
export type Method = "POST" | "PUT" | "PATCH" | "GET" | "DELETE";

export interface UpstreamRequest {
  /** Default: `POST`. */
  method?: Method;
  /** Absolute http or https URL. */
  url: string;
  /** Lower-case names. Requests may share a frozen object: its lines are written once. */
  headers: Readonly<Record<string, string>>;
  /** Parts that are sent one after another. Large parts are sent without a copy. Empty if the method has no body. */
  body: readonly Uint8Array[];
  /** What follows `body`: it is read only as fast as the connection sends it. */
  rest?: BodyRest;
  /** Aborting it closes the connection, before or after the head of the answer. */
  stop: Stoppable;
  /** Maximum time to connect, including the TLS handshake, if a new connection is needed. Milliseconds; default: the client's. */
  connectMs?: number;
  /** Requests share connections only within an origin and a pool. Requests with different `tls` need different pools. */
  pool?: string;
  /** Send the request on a new connection. */
  fresh?: boolean;
  /** Certificates in addition to the runtime's own. */
  tls?: TlsSettings;
}

/** A part of a body that is too long for the memory. */
export interface BodyRest {
  /** Bytes. */
  readonly length: number;
  /** The same bytes each time. A piece is valid until the next one is asked for. */
  bytes(): AsyncGenerator<Uint8Array, void, undefined>;
}

/** An answer whose head has arrived. A `Response` implements it. */
export interface UpstreamResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: HeaderReader;
  readonly body: ByteStream | null;
  /** Reads the whole body. */
  bytes(): Promise<Uint8Array>;
  /** Takes the whole body if it has arrived without an encoding: no promise is needed then. */
  arrived?(): Uint8Array | undefined;
}

export interface ByteStream {
  getReader(): ByteReader;
}

/** The result of a read. */
export interface Piece {
  done: boolean;
  value?: Uint8Array;
}

/**
 * Receives the result of one `take`: exactly one of its methods is called, once. They must not throw, because the data handler
 * of the connection calls them.
 */
export interface Receiver {
  piece(bytes: Uint8Array): void;
  /** The regular end. */
  end(): void;
  fail(reason: unknown): void;
}

/** Reads an answer's body. Cancelling closes the connection. */
export interface ByteReader {
  read(): Promise<Piece>;
  /**
   * The same read without a promise, which costs more than everything else that is done with a short chunk. The receiver gets a
   * piece at once if one is here. Absent: only `read` (see `takeFrom`).
   */
  take?(receiver: Receiver): void;
  cancel(reason?: unknown): Promise<void>;
}

/**
 * Sends a request, and resolves when the head of the answer has arrived.
 * @throws HttpError, or the reason of `stop` when it was aborted
 */
export type Transport = (request: UpstreamRequest) => Promise<UpstreamResponse>;

/** Whether requests of a method have a body. */
export function hasBody(method: Method = "POST"): boolean {
  return method === "POST" || method === "PUT" || method === "PATCH";
}
