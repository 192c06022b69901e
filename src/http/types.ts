/** How bytes go to an upstream and come back: one request, one answer. What a failure means is for others to say. */
import type { HeaderReader } from "../core/format.ts";
import type { TlsSettings } from "../core/provider.ts";
import type { Stoppable } from "../core/stop.ts";

export interface UpstreamRequest {
  /** Absolute http or https URL. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** One behind the other; what is long is sent from where it stands. */
  body: readonly Uint8Array[];
  /** Aborting it closes the connection, before the head of the answer as well as behind it. */
  stop: Stoppable;
  /** Longest time to connect, the TLS handshake included, should that be needed. Milliseconds; the client's own by default. */
  connectMs?: number;
  /** Only requests of the same origin and the same pool share a connection. Requests that differ in `tls` need different pools. */
  pool?: string;
  /** Never sent over a connection that has carried another request. */
  fresh?: boolean;
  /** Certificates beside the runtime's own. */
  tls?: TlsSettings;
}

/** An answer whose head has arrived. A `Response` is one. */
export interface UpstreamResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: HeaderReader;
  readonly body: ByteStream | null;
  /** The whole body. */
  bytes(): Promise<Uint8Array>;
}

export interface ByteStream {
  getReader(): ByteReader;
}

/** Pulls an answer's body; cancelling closes the connection. */
export interface ByteReader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>;
  cancel(reason?: unknown): Promise<void>;
}

/**
 * Sends, and resolves when the head of the answer is there.
 * @throws HttpError, or the reason for which it was stopped
 */
export type Transport = (request: UpstreamRequest) => Promise<UpstreamResponse>;
