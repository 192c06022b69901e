/** One request to an upstream: URL, headers, signal, and what a failure to send means. */
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

/** Most bytes of a failed answer that are read. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Most bytes of a JSON answer. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const filters = new WeakMap<UpstreamCodec, { request: HeaderFilter; answer: HeaderFilter }>();

/** The two compiled allow-lists of a format. */
export function headerFilters(codec: UpstreamCodec): { request: HeaderFilter; answer: HeaderFilter } {
  let found = filters.get(codec);
  if (!found) {
    found = { request: headerFilter(codec.requestHeaders), answer: headerFilter(codec.answerHeaders) };
    filters.set(codec, found);
  }
  return found;
}

/**
 * Headers of an upstream request. The credential is set last: nothing of the client's can take its place.
 * @param forwarded headers of the client @param streams whether the body asks the upstream for a stream
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
    // A compressed stream arrives in the compressor's batches and not event by event.
    ...(streams && { "accept-encoding": "identity" }),
    ...target.deployment.credentials,
  };
}

/**
 * Sends, and gives the upstream's head. Redirects are not followed: a redirect would carry the credential and the prompt
 * to an origin nobody configured.
 * @throws GatewayError `upstream` when nothing could be sent or the answer broke off before its head.
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

/** Digests of what a deployment's connections must not share with others, made once for each. */
const digests = new WeakMap<Deployment, string>();

/** Calls share upstream connections only with calls of the same credential and the same gateway key. */
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
 * The text of a failed answer, at most 64 KB; what follows is not read. An upstream that repeats the credential in its
 * complaint does not hand it to the client.
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
 * @throws GatewayError `upstream` when it is longer than 32 MB or breaks off.
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
    throw new GatewayError("upstream", "The provider broke off its answer.", {
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

/** Gives up a body nobody will read, so that its connection is closed. */
export async function discard(response: UpstreamResponse): Promise<void> {
  await response.body
    ?.getReader()
    .cancel()
    .catch(() => {});
}

/** Longest wait for an upstream to end a body whose answer is over. Milliseconds. */
const LINGER_MS = 1_000;

/**
 * Leaves a body behind its terminator: reads on in the background to the end of the body, which is next to nothing, so
 * that the connection can be used again. An upstream that keeps it open is left after a second.
 */
export async function drainInBackground(reader: ByteReader): Promise<void> {
  const giveUp = setTimeout(() => void reader.cancel().catch(() => {}), LINGER_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // What breaks behind the terminator takes nothing away from the answer.
  } finally {
    clearTimeout(giveUp);
  }
}
