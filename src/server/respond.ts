/** Turns answers and errors into Responses, with the request id under the header names of both vendors. */
import type { GatewayError } from "../core/error.ts";
import type { ClientCodec } from "../core/format.ts";
import type { OpenedJson } from "../gateway/lanes/lane.ts";
import { constantHeaders } from "../gateway/delivery/response-headers.ts";
import type { Answer } from "../gateway/types.ts";

/** Random bytes for many ids: a call of the system for each would cost more than the id. 12 bytes are 16 characters of base64url. */
const random = Buffer.alloc(12 * 256);
const RANDOM_LENGTH = 16;
let randomText = "";
let used = 0;
/** Milliseconds since 1970, and the same as 6 bytes in base64url. */
let time = 0;
let timeText = "";

/** `req_` and 24 URL-safe characters: 6 bytes of time, so that a store finds the call by its id, and 12 random ones. */
export function createRequestId(): string {
  if (used === randomText.length) {
    crypto.getRandomValues(random);
    randomText = random.toString("base64url");
    used = 0;
  }
  const now = Date.now();
  if (now !== time) {
    time = now;
    const bytes = Buffer.alloc(6);
    bytes.writeUIntBE(now, 0, 6);
    timeText = bytes.toString("base64url");
  }
  used += RANDOM_LENGTH;
  return `req_${timeText}${randomText.slice(used - RANDOM_LENGTH, used)}`;
}

export function respond(answer: Answer, requestId: string): Response {
  const { status, constant, headers: own, body } = answer;
  const headers = headersOf(constant);
  // In the shared object, which the response copies: to make the object of a response costs more.
  setIds(headers, requestId);
  const response = new Response(body as BodyInit, { status, headers });
  let hasOwn = false;
  for (const name in own)
    if (own[name] !== constant[name]) {
      response.headers.set(name, own[name]!);
      hasOwn = true;
    }
  if (hasOwn) setIds(response.headers, requestId);
  return response;
}

function setIds(headers: Headers, requestId: string): void {
  headers.set("x-request-id", requestId);
  headers.set("request-id", requestId);
}

/** To copy a Headers object costs a third of creating it. */
const headersByRecord = new WeakMap<object, Headers>();

function headersOf(constant: Answer["constant"]): Headers {
  let found = headersByRecord.get(constant);
  if (!found) headersByRecord.set(constant, (found = new Headers(constant)));
  return found;
}

/** A JSON answer to a request that is not a call. */
export function respondJson(value: unknown, requestId: string, status = 200): Response {
  const constant = constantHeaders("json");
  return respond({ status, constant, headers: {}, body: JSON.stringify(value) }, requestId);
}

/** An error before the first byte, in the client's format. */
export function openError(error: GatewayError, codec: ClientCodec, requestId: string): OpenedJson {
  const { status, headers, body } = codec.codec.encodeError(error, requestId);
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
  const { status, headers, body } = openError(error, codec, requestId);
  return respond({ status, constant: constantHeaders("json"), headers, body }, requestId);
}
