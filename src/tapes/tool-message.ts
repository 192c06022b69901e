/** Messages of clients to servers of tools (Model Context Protocol), as a tape reads them. */
import { isObject, type JsonObject, parseJson } from "../core/json.ts";
import type { ToolFacts } from "../gateway/recording/entry.ts";
import { type Mask, type Meaning, shortened, sortedText } from "../gateway/recording/meaning.ts";
import type { OwnRoute } from "../gateway/seams.ts";

/** The paths at which weir serves tools: those of all servers, and those of one. */
export const TOOL_PATHS = ["/mcp", "/mcp/{server}"] as const;

export const CALL_TOOL = "tools/call";
export const INITIALIZE = "initialize";
/** Its answer ends when the client leaves. */
export const LISTEN = "subscriptions/listen";

export type RequestId = string | number;

/** A JSON-RPC message. */
export interface ToolMessage {
  readonly value: JsonObject;
  /** Absent: an answer of the client to a question of the server. */
  readonly method?: string;
  /** Absent: it wants no answer. */
  readonly id?: RequestId;
  readonly params: JsonObject;
}

/** Whether messages to servers of tools come by a route. */
export function isToolRoute({ path }: Pick<OwnRoute, "path">): boolean {
  return TOOL_PATHS.some((one) => one === path);
}

/** @returns undefined for a body that is no single message */
export function readMessage(bytes: Uint8Array): ToolMessage | undefined {
  const value = parseJson(new TextDecoder().decode(bytes));
  if (!isObject(value)) return undefined;
  const { method, id, params } = value;
  return {
    value,
    params: isObject(params) ? params : {},
    ...(typeof method === "string" && { method }),
    ...((typeof id === "string" || typeof id === "number") && { id }),
  };
}

/** What is kept of a message beside its meaning. */
export function factsOf({ method = "", id, params }: ToolMessage, mask: Mask): ToolFacts {
  const name = params["name"] ?? params["uri"];
  const progress = isObject(params["_meta"]) ? params["_meta"]["progressToken"] : undefined;
  return {
    method,
    ...(typeof name === "string" && { name: mask(name) }),
    ...(id !== undefined && { id }),
    ...((typeof progress === "string" || typeof progress === "number") && { progress }),
  };
}

/**
 * The meaning of a message: its path, its method and its parameters. Ids, `_meta` and what the client says of itself do not count:
 * they differ with each run and each version of the client.
 */
export function meaningOfMessage(path: string, { method, params, value }: ToolMessage, mask: Mask): Meaning {
  const { _meta: _, arguments: given, ...members } = params;
  const counting = method === INITIALIZE ? { protocolVersion: members["protocolVersion"] } : members;
  const answer = method === undefined && { result: value["result"], error: value["error"] };
  const line = (name: string, inner: unknown) =>
    inner === undefined ? [] : [mask(`${name}: ${shortened(sortedText(inner as JsonObject))}`)];
  const linesOf = (object: object, indent = "") =>
    Object.entries(object)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, inner]) => line(indent + name, inner));
  const args = isObject(given) ? ["arguments", ...linesOf(given, "  ")] : line("arguments", given);
  const lines = [method ?? "answer", ...linesOf({ ...counting, ...answer }), ...args];
  return { model: mask(path), lines, options: {} };
}
