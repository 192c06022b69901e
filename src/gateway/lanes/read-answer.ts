/** Reads JSON answers and errors of providers within their size limits. */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { brokenConnection } from "../../core/incomplete.ts";
import type { Framing } from "../../core/frame.ts";
import type { Target } from "../../core/provider.ts";
import { bytesWithoutCredential, withoutSecrets } from "../delivery/redact.ts";
import { sse } from "../../stream/framing.ts";
import { isStream as isStreamType, ReframedReader } from "../../stream/sse.ts";
import type { ByteReader, ByteStream, UpstreamResponse } from "./transport.ts";

/** Limit of an error body; weir does not read the rest. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Limit of a JSON answer, unless the caller sets another. */
/** As much of an answer as weir holds as a whole. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** Whether the provider sends a stream. @param requested whether weir requested one */
export function isStream({ headers }: UpstreamResponse, target: Target, requested: boolean): boolean {
  return isStreamType(headers.get("content-type") ?? "", framingOf(target), requested);
}

/** Reads the body of a stream as server-sent events, whatever its framing. */
export function eventReader(body: ByteStream, target: Target): ByteReader {
  const framing = framingOf(target);
  // The bytes of server-sent events pass unchanged, also under another content type.
  const isReframed = framing && framing.reader !== sse.reader;
  return isReframed ? new ReframedReader(body.getReader(), framing) : body.getReader();
}

function framingOf({ provider, format }: Target): Framing | undefined {
  return provider.framing?.[format];
}

/** For a 200 with HTML or another body that is not an answer of the format. */
export function invalidAnswer({ provider }: Target): GatewayError {
  return new GatewayError(
    "upstream",
    `The provider ${provider.name} returned a body that is not an answer of its format; check its base URL.`,
    { code: "upstream_invalid_answer" },
  );
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
 * The bytes of a JSON answer, with the credential masked; at once if they have arrived with the head.
 * @param limit its greatest length in bytes
 * @throws GatewayError `upstream` if it is longer or the connection breaks
 */
export function readAnswer(
  response: UpstreamResponse,
  attempt: Attempt,
  limit = MAX_ANSWER_BYTES,
): Uint8Array | Promise<Uint8Array> {
  const declared = Number(response.headers.get("content-length") ?? Number.NaN);
  const isShort = declared <= limit && !response.headers.has("content-encoding");
  const arrived = isShort ? response.arrived?.() : undefined;
  return arrived
    ? bytesWithoutCredential(arrived, attempt.target)
    : awaitAnswer(response, isShort, attempt, limit);
}

async function awaitAnswer(
  response: UpstreamResponse,
  isShort: boolean,
  attempt: Attempt,
  limit: number,
): Promise<Uint8Array> {
  try {
    const bytes = isShort ? await response.bytes() : await readUpTo(response, limit, false);
    return bytesWithoutCredential(bytes, attempt.target);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    if (attempt.stop.reason) throw attempt.stop.reason;
    throw brokenConnection(cause);
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
