/** Events as frames of a WebSocket. */
import { type ErrorKind, GatewayError } from "../../core/error.ts";
import type { Frame } from "../../core/frame.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../core/json.ts";

/** The types of the last event of a response. */
const LAST = new Set(["response.completed", "response.incomplete", "response.failed", "error"]);

/** @param event type of an event; absent where only its data says it */
export function isLast(event: string | undefined): boolean {
  return event !== undefined && LAST.has(event);
}

/** An event of the stream as a frame: the same bytes, with the id of the stream if the client named one. */
export function frameOf({ event, data }: Frame, streamId: string | undefined): string {
  if (event === "error") return errorFrame(nested(data), streamId);
  return streamId === undefined ? data : data.replace("{", `{"stream_id":${JSON.stringify(streamId)},`);
}

export interface SocketError {
  /** What the same error has by HTTP. Absent: the response had begun. */
  readonly status?: number;
  readonly error: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly sequence_number?: number;
}

/** The vendor nests errors on connections: `ResponseWsError` of its SDK. */
export function errorFrame(said: SocketError, streamId: string | undefined): string {
  return JSON.stringify({ type: "error", ...said, ...(streamId !== undefined && { stream_id: streamId }) });
}

const TYPES: Readonly<Partial<Record<ErrorKind, string>>> = {
  quota: "insufficient_quota",
  "rate-limited": "rate_limit_error",
  authentication: "authentication_error",
  permission: "permission_error",
  internal: "server_error",
  upstream: "server_error",
  overloaded: "server_error",
  timeout: "server_error",
};

/** What weir refuses before it is a call, or cannot deliver. */
export function errorOf(thrown: unknown): SocketError {
  const { kind, status, code = null, message, param = null } = GatewayError.from(thrown);
  return { status, error: { type: TYPES[kind] ?? "invalid_request_error", code, message, param } };
}

/** An error event of a stream has its members beside its type. */
function nested(data: string): SocketError {
  const json = parseJson(data);
  const {
    code = null,
    message = "The response failed.",
    param = null,
    sequence_number: at,
  } = isObject(json) ? json : {};
  return {
    error: { type: "server_error", code, message, param },
    ...(typeof at === "number" && { sequence_number: at }),
  };
}

/** Headers of an answer that say what the client could not see otherwise. */
const SHOWN = ["retry-after", "retry-after-ms", "x-request-id"];

/** @param text body of an answer that is no stream */
export function refusalOf(status: number, headers: Headers, text: string): SocketError {
  const json = parseJson(text);
  const error = isObject(json) && isObject(json["error"]) ? json["error"] : { message: text.slice(0, 500) };
  const shown = [...headers].filter(([name]) => SHOWN.includes(name) || name.startsWith("x-ratelimit-"));
  return { status, error, ...(shown.length > 0 && { headers: Object.fromEntries(shown) }) };
}

const NOTHING = {
  ...{ input_tokens: 0, input_tokens_details: { cached_tokens: 0 } },
  ...{ output_tokens: 0, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 0 },
};

/** The events of a response that generated nothing. */
export function warmUpOf(id: string, model: Json): Frame[] {
  const created_at = Math.floor(Date.now() / 1000);
  const response = { id, object: "response", created_at, model, output: [], store: false };
  return [
    { type: "response.created", response: { ...response, status: "in_progress", usage: null } },
    { type: "response.completed", response: { ...response, status: "completed", usage: NOTHING } },
  ].map((event, sequence_number) => ({
    event: event.type,
    data: JSON.stringify({ ...event, sequence_number }),
  }));
}
