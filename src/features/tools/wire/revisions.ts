/** The revisions of the protocol, and what each message of the modern one says about itself. */
import { isObject, type JsonObject } from "../../../core/json.ts";

/** Stateless: each request has version and capabilities in `_meta`. */
export const MODERN = "2026-07-28";
/** With the handshake `initialize`, newest first. */
export const LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;
/** Newest first. */
export const REVISIONS: readonly string[] = [MODERN, ...LEGACY];
/** What weir offers, and answers to a revision that it does not know. */
export const LEGACY_NEWEST = LEGACY[0];

export type Era = "modern" | "legacy";

/** Members of `_meta` (revision 2026-07-28, Basic). */
export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  client: "io.modelcontextprotocol/clientInfo",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  server: "io.modelcontextprotocol/serverInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscription: "io.modelcontextprotocol/subscriptionId",
} as const;

/** Methods whose results may be kept (`ttlMs`, `cacheScope`). */
export const CACHEABLE: ReadonlySet<string> = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

/** Parameters that the header `Mcp-Name` repeats, by method. */
export const NAMED: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** `_meta` of a request, result or notification. */
export function metaOf(holder: JsonObject | undefined): JsonObject {
  const meta = holder?.["_meta"];
  return isObject(meta) ? meta : {};
}

/** The same with further members of `_meta`; `undefined` takes one away. */
export function withMeta(holder: JsonObject | undefined, more: JsonObject): JsonObject {
  const meta: JsonObject = { ...metaOf(holder), ...more };
  for (const name in more) if (more[name] === undefined) delete meta[name];
  const { _meta: _, ...others } = holder ?? {};
  return Object.keys(meta).length > 0 ? { ...others, _meta: meta } : others;
}

/** Levels of log messages, the least severe first (RFC 5424). */
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function isLevel(level: unknown): level is string {
  return LEVELS.includes(level as string);
}

/** Whether a message is as severe as a client wants. */
export function reaches(level: unknown, least: string): boolean {
  return LEVELS.indexOf(level as string) >= LEVELS.indexOf(least);
}
