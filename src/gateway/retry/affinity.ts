/**
 * What keeps a conversation at one deployment, where its prompt is cached: the session a client names, or else how the
 * conversation begins. Asked for only where there is a choice, and read from the bytes: the native lane parses nothing.
 */
import type { JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { elementsOf } from "../../stream/scan.ts";
import type { Incoming } from "../types.ts";

type Asked = Pick<Incoming, "bytes" | "spanOf"> & { call: Pick<Incoming["call"], "headers"> };

/** Headers in which agents name their session (Claude Code, Codex, opencode and others). */
const SESSION_HEADERS = [
  "x-session-id",
  "session_id",
  "session-id",
  "x-claude-code-session-id",
  "thread-id",
  "x-session-affinity",
];

export function affinityOf(asked: Asked): string {
  for (const name of SESSION_HEADERS) {
    const session = asked.call.headers.get(name);
    if (session) return session;
  }
  const { prompt_cache_key: cacheKey, metadata } = smallMembers(asked);
  if (typeof cacheKey === "string" && cacheKey !== "") return cacheKey;
  if (isObject(metadata) && typeof metadata["user_id"] === "string") return metadata["user_id"];
  return beginning(asked);
}

/** A longer one is nobody's key. Bytes. */
const LONGEST_MEMBER = 16 * 1024;

function smallMembers({ bytes, spanOf }: Asked): JsonObject {
  const found: JsonObject = {};
  for (const name of ["prompt_cache_key", "metadata"]) {
    const span = spanOf(name);
    if (span && span.end - span.start <= LONGEST_MEMBER)
      found[name] = parseJson(textOf(bytes, span.start, span.end));
  }
  return found;
}

/** So much of the first thing the user said is looked at. Bytes. */
const PREFIX = 4096;
/** Cache marks wander from turn to turn. */
const CACHE_MARK = /,?\s*"cache_control"\s*:\s*\{[^}]*\}/g;

/** What comes behind the user's first words differs from turn to turn, and what comes before them is shared by many. */
function beginning({ bytes, spanOf }: Asked): string {
  const messages = spanOf("messages");
  if (!messages) return "";
  for (const { start, end } of elementsOf(bytes, messages))
    if (isUser(bytes, start, end))
      return textOf(bytes, start, Math.min(end, start + PREFIX)).replace(CACHE_MARK, "");
  return "";
}

/** Whose turn it is stands at its head or at its end, whoever wrote it. */
function isUser(bytes: Uint8Array, start: number, end: number): boolean {
  const role = /"role"\s*:\s*"user"/;
  const edge = 64;
  return (
    role.test(textOf(bytes, start, Math.min(end, start + edge))) ||
    role.test(textOf(bytes, Math.max(start, end - edge), end))
  );
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
}
