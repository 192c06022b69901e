/** How bytes go to an upstream and come back: one request, one answer. What a failure means is for others to say. */
import type { HeaderReader } from "../core/format.ts";

export interface UpstreamRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | string;
  /** Aborting it closes the connection, before the head of the answer as well as behind it. */
  signal: AbortSignal;
}

/** An answer whose head has arrived. A `Response` is one. */
export interface UpstreamResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: HeaderReader;
  readonly body: { getReader(): ByteReader } | null;
  /** The whole body. */
  bytes(): Promise<Uint8Array>;
}

/** Pulls an answer's body; cancelling closes the connection. */
export interface ByteReader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>;
  cancel(reason?: unknown): Promise<void>;
}

export type Transport = (request: UpstreamRequest) => Promise<UpstreamResponse>;

/** Over the runtime's `fetch`. Redirects are not followed; the gateway keeps its own clocks (runtime findings 7 and 9). */
export const fetchTransport: Transport = ({ url, headers, body, signal }) =>
  fetch(url, {
    method: "POST",
    headers,
    body,
    redirect: "manual",
    signal,
    timeout: false,
  } as RequestInit) as Promise<UpstreamResponse>;
