/**
 * What keeps a conversation at one deployment, where its prompt is cached: the session a client names, or else how the
 * conversation begins. Asked for only where there is a choice.
 */
import type { JsonObject } from "../core/json.ts";
import { isObject } from "../core/json.ts";

/** Headers in which agents name their session (Claude Code, Codex, opencode and others). */
const SESSION_HEADERS = [
  "x-session-id",
  "session_id",
  "session-id",
  "x-claude-code-session-id",
  "thread-id",
  "x-session-affinity",
];

/** Characters of a conversation's beginning that are looked at. */
const PREFIX = 1024;

export function affinityOf(headers: Headers, body: JsonObject): string {
  for (const name of SESSION_HEADERS) {
    const session = headers.get(name);
    if (session) return session;
  }
  const { prompt_cache_key: cacheKey, metadata } = body;
  if (typeof cacheKey === "string" && cacheKey !== "") return cacheKey;
  if (isObject(metadata) && typeof metadata["user_id"] === "string") return metadata["user_id"];
  return beginning(body);
}

/** Up to the end of the first thing the user said: what comes later differs from turn to turn. */
function beginning(body: JsonObject): string {
  const { system, messages } = body;
  const turns = Array.isArray(messages) ? messages : [];
  const end = turns.findIndex((turn) => isObject(turn) && turn["role"] === "user");
  return [system ?? "", ...turns.slice(0, end + 1)].map(textOf).join("\n");
}

/** Cache marks wander from turn to turn, so that only text counts. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value.slice(0, PREFIX);
  if (Array.isArray(value)) return value.map(textOf).join("").slice(0, PREFIX);
  if (!isObject(value)) return "";
  const { text, content } = value as { text?: unknown; content?: unknown };
  return typeof text === "string" ? text.slice(0, PREFIX) : textOf(content);
}
