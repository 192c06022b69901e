/** Answers and errors → Responses. Every one carries the request id under both vendors' names. */
import { randomFillSync } from "node:crypto";
import type { GatewayError } from "../core/error.ts";
import type { ClientCodec } from "../core/format.ts";
import type { Answer } from "../gateway/exchange.ts";

const ID_BYTES = 18;
/** Random bytes for many ids at once: asking for each by itself costs more than the id. */
const pool = Buffer.alloc(ID_BYTES * 256);
let used = pool.length;

/** `req_` and 24 URL-safe random characters. */
export function createRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return `req_${pool.toString("base64url", used - ID_BYTES, used)}`;
}

export function respond(answer: Answer, requestId: string): Response {
  const headers = answer.headers;
  headers["x-request-id"] = requestId;
  headers["request-id"] = requestId;
  return new Response(answer.body as BodyInit, { status: answer.status, headers });
}

export function respondJson(value: unknown, requestId: string, status = 200): Response {
  const headers = { "content-type": "application/json" };
  return respond({ status, headers, body: JSON.stringify(value) }, requestId);
}

/** An error before the first byte, in the dialect of the route. @param more headers that say what was tried */
export function respondError(
  error: GatewayError,
  codec: ClientCodec,
  requestId: string,
  more: Record<string, string> = {},
): Response {
  const { status, headers, body } = codec.encodeError(error, requestId);
  const answer = {
    status,
    headers: { ...more, ...headers, ...error.headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  return respond(answer, requestId);
}
