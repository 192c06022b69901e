/** JSON-RPC 2.0 messages of the Model Context Protocol. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";

/** The type of an id is kept: `0`, `""` and `"0"` are three ids. */
export type RequestId = string | number;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/** A message that asks for an answer. */
export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

export interface RpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: JsonObject;
}

/** What a request came to. */
export type Answered = { readonly result: JsonObject } | { readonly error: RpcError };

export type RpcResponse = { readonly jsonrpc: "2.0"; readonly id: RequestId | null } & Answered;

/** Codes of the JSON-RPC specification, of MCP, and of weir (outside of the range that MCP reserves). */
export const CODE = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  /** Resource not found, before 2026-07-28. */
  resource: -32002,
  /** The server needs the user at a URL; 2025-11-25 only. */
  url: -32042,
  headerMismatch: -32020,
  capability: -32021,
  version: -32022,
  /** A limit or budget of weir. */
  limit: 1001,
  unreachable: 1002,
  timeout: 1003,
  /** The server ended its answer before the result. */
  cut: 1004,
  /** The server answered what the protocol does not allow. */
  invalid: 1005,
} as const;

/** An error that is the answer to a request. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly code: number;
  readonly data: Json | undefined;
  /** HTTP status of the answer to a modern client. */
  readonly status: number;

  constructor(code: number, message: string, { data, status = 200 }: { data?: Json; status?: number } = {}) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }

  get rpc(): RpcError {
    return { code: this.code, message: this.message, ...(this.data !== undefined && { data: this.data }) };
  }
}

export function isId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}

export function isRequest(value: unknown): value is RpcRequest {
  return isObject(value) && typeof value["method"] === "string" && isId(value["id"]) && hasParams(value);
}

export function isNotification(value: unknown): value is RpcNotification {
  return isObject(value) && typeof value["method"] === "string" && !("id" in value) && hasParams(value);
}

export function isResponse(value: unknown): value is RpcResponse {
  return (
    isObject(value) &&
    !("method" in value) &&
    (isId(value["id"]) || value["id"] === null) &&
    (isObject(value["result"]) || isError(value["error"]))
  );
}

export function isError(value: unknown): value is RpcError {
  return isObject(value) && typeof value["code"] === "number" && typeof value["message"] === "string";
}

function hasParams({ params }: JsonObject): boolean {
  return params === undefined || isObject(params);
}

/** What a response says. */
export function answeredIn(response: RpcResponse): Answered {
  return "error" in response && isError(response.error)
    ? { error: response.error }
    : { result: (response as { result: JsonObject }).result };
}

export function requestOf(id: RequestId, method: string, params?: JsonObject): RpcRequest {
  return { jsonrpc: "2.0", id, method, ...(params && { params }) };
}

export function notificationOf(method: string, params?: JsonObject): RpcNotification {
  return { jsonrpc: "2.0", method, ...(params && { params }) };
}

export function responseOf(id: RequestId | null, answered: Answered): RpcResponse {
  return { jsonrpc: "2.0", id, ...answered };
}

/** An error before its request was understood. `isModern`: then it has no id, else `null`. */
export function errorText(error: RpcError, id: RequestId | undefined, isModern: boolean): string {
  if (id !== undefined) return JSON.stringify(responseOf(id, { error }));
  return JSON.stringify({ jsonrpc: "2.0", ...(isModern ? {} : { id: null }), error });
}
