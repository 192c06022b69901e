/** An answer of the gateway, read to its end before the client gets a byte of it. */
import type { HttpRequest } from "./read-request.ts";
import { type Exchange, EXCHANGE_HEADER } from "./plugin.ts";

export interface WholeAnswer {
  status: number;
  headers: [name: string, value: string][];
  /** The events of a stream; pieces of any other body. */
  frames: Uint8Array[];
  /** The frames are events, and the client expects no length. */
  isStream: boolean;
}

/** Headers of one connection, and those that only weir sends. */
const NOT_PASSED =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|accept-encoding|expect|date|x-should-retry|x-weir-.*)$/;

/** The bytes of an answer that fails in its middle have arrived when none came for so long. Milliseconds. */
const SILENCE_MS = 400;

/**
 * Sends a request to the gateway.
 * @param id the value of the header for the plugin
 * @param exchange what the plugin sets while the gateway answers
 */
export async function askGateway(
  gateway: string,
  id: string,
  exchange: Pick<Exchange, "breaks">,
  { method, target, headers, body }: HttpRequest,
): Promise<WholeAnswer> {
  const response = await fetch(new URL(target, gateway), {
    method,
    headers: [
      ...headers.filter(([name]) => !NOT_PASSED.test(name)),
      ["accept-encoding", "identity"],
      [EXCHANGE_HEADER, id],
    ],
    ...(body.length > 0 && { body: new Uint8Array(body) }),
    redirect: "manual",
  });
  const bytes = await readAll(response, exchange);
  const type = response.headers.get("content-type") ?? "";
  return {
    status: response.status,
    headers: [...response.headers].filter(([name]) => !NOT_PASSED.test(name)),
    ...splitFrames(type, bytes),
  };
}

async function readAll({ body }: Response, exchange: Pick<Exchange, "breaks">): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const reader = body?.getReader();
  for (;;) {
    const next = reader?.read().catch(() => undefined);
    const read = await (exchange.breaks ? Promise.race([next, Bun.sleep(SILENCE_MS)]) : next);
    if (read?.value === undefined) break;
    chunks.push(read.value);
  }
  void reader?.cancel().catch(() => {});
  return Buffer.concat(chunks);
}

/** The end of an event of a stream, by the beginning of its content type. */
const SEPARATORS: readonly [type: string, separator: string][] = [
  ["text/event-stream", "\n\n"],
  ["application/x-ndjson", "\n"],
];

/** Number of pieces of a body without events. */
const PIECES = 26;

/** Splits a body into its events. */
export function splitFrames(type: string, bytes: Buffer): Pick<WholeAnswer, "frames" | "isStream"> {
  const separator = SEPARATORS.find(([start]) => type.startsWith(start))?.[1];
  const frames: Uint8Array[] = [];
  const size = Math.max(1, Math.ceil(bytes.length / PIECES));
  for (let from = 0; from < bytes.length;) {
    const found = separator === undefined ? from + size : endOf(bytes, separator, from);
    frames.push(bytes.subarray(from, found));
    from = found;
  }
  return { frames, isStream: separator !== undefined };
}

function endOf(bytes: Buffer, separator: string, from: number): number {
  const at = bytes.indexOf(separator, from);
  return at < 0 ? bytes.length : at + separator.length;
}
