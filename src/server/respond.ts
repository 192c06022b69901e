/** Turns answers and errors into Responses, with the request id under the header names of both vendors. */
import { randomFillSync } from "node:crypto";
import type { GatewayError } from "../core/error.ts";
import type { ClientCodec } from "../core/format.ts";
import type { OpenedJson } from "../gateway/lanes/lane.ts";
import type { Answer } from "../gateway/types.ts";

const ID_BYTES = 18;
/** Random bytes for many ids: a call of the system for each would cost more than the id. */
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
  const response = new Response(answer.body as BodyInit, {
    status: answer.status,
    headers: sharedHeaders(answer.headers),
  });
  const { headers } = response;
  for (const name in answer.headers) if (!SHARED.has(name)) headers.set(name, answer.headers[name]!);
  headers.set("x-request-id", requestId);
  headers.set("request-id", requestId);
  return response;
}

/** Headers with the same values in many answers: to copy a Headers object costs a third of creating it. */
const SHARED: ReadonlySet<string> = new Set([
  "content-type",
  "cache-control",
  "x-accel-buffering",
  "x-weir-provider",
  "x-weir-deployment",
  "x-weir-model",
  "x-weir-lane",
]);
const headersByValue = new Map<string, Headers>();
/** Clients choose the model names, so the cache is limited. */
const MAX_CACHED = 1_000;

function sharedHeaders(headers: Readonly<Record<string, string>>): Headers {
  let key = "";
  for (const name in headers) if (SHARED.has(name)) key += `${name}\n${headers[name]}\n`;
  let found = headersByValue.get(key);
  if (found) return found;
  found = new Headers();
  for (const name in headers) if (SHARED.has(name)) found.set(name, headers[name]!);
  if (headersByValue.size >= MAX_CACHED) headersByValue.clear();
  headersByValue.set(key, found);
  return found;
}

export function respondJson(value: unknown, requestId: string, status = 200): Response {
  const headers = { "content-type": "application/json" };
  return respond({ status, headers, body: JSON.stringify(value) }, requestId);
}

/** An error before the first byte, in the client's format. */
export function openError(error: GatewayError, codec: ClientCodec, requestId: string): OpenedJson {
  const { status, headers, body } = codec.encodeError(error, requestId);
  return {
    kind: "json",
    status,
    headers: { ...headers, ...error.headers, "content-type": "application/json" },
    body: JSON.stringify(body),
    error,
  };
}

/** The same as a response, for requests that are not calls. */
export function respondError(error: GatewayError, codec: ClientCodec, requestId: string): Response {
  return respond(openError(error, codec, requestId), requestId);
}
