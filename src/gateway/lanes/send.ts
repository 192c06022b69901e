/** Sends one request to a provider, and reads JSON answers and errors within their size limits. */
import { createHash } from "node:crypto";
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import type { Deployment, Target } from "../../core/provider.ts";
import type { HeaderFilter } from "./header-filter.ts";
import { headerFilter } from "./header-filter.ts";
import { bytesWithoutCredential, textWithoutCredential, withoutSecrets } from "../delivery/redact.ts";
import type { ByteReader, UpstreamResponse } from "./transport.ts";
import { describeReason, reasonOf, transport } from "./transport.ts";

export interface Outgoing {
  target: Target;
  url: string;
  body: readonly Uint8Array[];
  headers: Record<string, string>;
}

/** Limit of an error body; weir does not read the rest. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Limit of a JSON answer. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const filters = new WeakMap<UpstreamCodec, { request: HeaderFilter; answer: HeaderFilter }>();

/** The compiled header allow-lists of a format. */
export function headerFilters(codec: UpstreamCodec): { request: HeaderFilter; answer: HeaderFilter } {
  let found = filters.get(codec);
  if (!found) {
    found = { request: headerFilter(codec.requestHeaders), answer: headerFilter(codec.answerHeaders) };
    filters.set(codec, found);
  }
  return found;
}

/**
 * Headers of a request to a provider. The credential comes last, so that no other header can replace it.
 * @param forwarded headers of the client
 * @param streams whether the request asks for a stream
 */
export function upstreamHeaders(
  target: Target,
  forwarded: Record<string, string>,
  streams: boolean,
): Record<string, string> {
  return {
    "user-agent": "weir",
    ...target.provider.headers,
    ...forwarded,
    "content-type": "application/json",
    accept: streams ? "text/event-stream" : "application/json",
    // A compressed stream would arrive in batches of the compressor and not event by event.
    ...(streams && { "accept-encoding": "identity" }),
    ...target.deployment.credentials,
  };
}

/**
 * Sends a request. @returns the response with its headers; the caller reads the body. weir follows no redirect: it would send
 * the credential and the prompt to an origin that is not configured.
 * @throws GatewayError `upstream` if the request could not be sent, or the connection broke before the response headers
 */
export async function send(outgoing: Outgoing, call: Call): Promise<UpstreamResponse> {
  const { target, url } = outgoing;
  let response: UpstreamResponse;
  try {
    response = await transport({
      url,
      headers: outgoing.headers,
      body: outgoing.body,
      stop: call.stop,
      connectMs: target.deployment.timeouts?.connectMs,
      pool: poolOf(target, call),
      fresh: call.attempts.some(({ failure }) => failure?.what === "stale"),
      tls: target.deployment.tls,
    });
  } catch (cause) {
    throw sendFailure(cause, target, call);
  }
  call.headAt = performance.now();
  call.upstreamStatus = response.status;
  const id = response.headers.get("x-request-id") ?? response.headers.get("request-id");
  call.upstreamRequestId = id === null ? undefined : textWithoutCredential(id, target);
  if (response.status >= 300 && response.status < 400) {
    await discard(response);
    throw new GatewayError(
      "upstream",
      `The provider ${target.provider.name} answered with a redirect (${response.status}), which is not followed; check its base URL.`,
      { code: "upstream_redirect" },
    );
  }
  return response;
}

/** Cache: digest of the credential, headers and TLS settings of a deployment. */
const digests = new WeakMap<Deployment, string>();

/** The pool of a call. Calls share a connection only if they have the same credential and the same gateway key. */
function poolOf({ provider, deployment }: Target, { key = "" }: Call): string {
  let digest = digests.get(deployment);
  if (digest === undefined) {
    const identity = JSON.stringify([deployment.credentials, provider.headers, deployment.tls]);
    digests.set(deployment, (digest = createHash("sha256").update(identity).digest("base64")));
  }
  return digest + key;
}

function sendFailure(cause: unknown, target: Target, call: Call): GatewayError {
  if (call.stop.reason) return call.stop.reason;
  const reason = reasonOf(cause) ?? "unreachable";
  return new GatewayError("upstream", `The provider ${target.provider.name} ${describeReason(reason)}.`, {
    code: "upstream_unreachable",
    cause,
  });
}

/**
 * The text of an error body, at most 64 KB, with credentials masked: a provider may repeat them in its error.
 */
export async function readErrorText(response: UpstreamResponse, target: Target): Promise<string> {
  try {
    const text = new TextDecoder().decode(await readUpTo(response, MAX_ERROR_BYTES, true));
    return withoutSecrets(text, target.provider);
  } catch {
    return "";
  }
}

/**
 * The bytes of a JSON answer, with the credential masked.
 * @throws GatewayError `upstream` if it is longer than 32 MB or the connection breaks
 */
export async function readAnswer(response: UpstreamResponse, call: Call): Promise<Uint8Array> {
  try {
    const declared = Number(response.headers.get("content-length") ?? Number.NaN);
    const isShort = declared <= MAX_ANSWER_BYTES && !response.headers.has("content-encoding");
    const bytes = isShort ? await response.bytes() : await readUpTo(response, MAX_ANSWER_BYTES, false);
    return bytesWithoutCredential(bytes, call.target!);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    if (call.stop.reason) throw call.stop.reason;
    throw new GatewayError("upstream", "The connection to the provider broke during its answer.", {
      code: "stream_incomplete",
      cause,
    });
  }
}

async function readUpTo(response: UpstreamResponse, limit: number, cut: boolean): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || !value) return Buffer.concat(chunks);
    chunks.push(value);
    size += value.length;
    if (size <= limit) continue;
    await reader.cancel().catch(() => {});
    if (cut) return Buffer.concat(chunks).subarray(0, limit);
    throw new GatewayError("upstream", `The provider's answer is longer than ${limit} bytes.`, {
      code: "upstream_too_large",
    });
  }
}

/** Cancels a body that weir does not read, which closes its connection. */
export async function discard(response: UpstreamResponse): Promise<void> {
  await response.body
    ?.getReader()
    .cancel()
    .catch(() => {});
}

/** Longest wait for the end of a body after its terminator. Milliseconds. */
const DRAIN_MS = 1_000;

/**
 * Reads a body from its terminator to its end in the background, which is only a few bytes, so that the connection can be
 * reused. If the provider does not end the body within a second, weir closes the connection.
 */
export async function drainInBackground(reader: ByteReader): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), DRAIN_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer was complete at its terminator: a connection that breaks after it is no failure.
  } finally {
    clearTimeout(timer);
  }
}
