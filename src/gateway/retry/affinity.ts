/**
 * The affinity key, which keeps a conversation at the deployment that has its prompt in the cache: the client's session id,
 * or else the beginning of the conversation. weir computes it only if there are several deployments, and reads it from the
 * bytes, because the native lane does not parse the body.
 */
import type { JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { elementsOf } from "../../stream/scan.ts";
import type { Incoming } from "../types.ts";

type AffinitySource = Pick<Incoming, "bytes" | "spanOf"> & { call: Pick<Incoming["call"], "headers"> };

/** Headers in which agents name their session (Claude Code, Codex, opencode and others). */
const SESSION_HEADERS = [
  "x-session-id",
  "session_id",
  "session-id",
  "x-claude-code-session-id",
  "thread-id",
  "x-session-affinity",
];

export function affinityOf(source: AffinitySource): string {
  for (const name of SESSION_HEADERS) {
    const session = source.call.headers.get(name);
    if (session) return session;
  }
  const { prompt_cache_key: cacheKey, metadata } = smallMembers(source);
  if (typeof cacheKey === "string" && cacheKey !== "") return cacheKey;
  if (isObject(metadata) && typeof metadata["user_id"] === "string") return metadata["user_id"];
  return firstUserText(source);
}

/** Longer members are not parsed: they hold no session id. Bytes. */
const MAX_MEMBER_BYTES = 16 * 1024;

function smallMembers({ bytes, spanOf }: AffinitySource): JsonObject {
  const found: JsonObject = {};
  for (const name of ["prompt_cache_key", "metadata"]) {
    const span = spanOf(name);
    if (span && span.end - span.start <= MAX_MEMBER_BYTES)
      found[name] = parseJson(textOf(bytes, span.start, span.end));
  }
  return found;
}

/** Length of the first user message that goes into the key. Bytes. */
const PREFIX_BYTES = 4096;
/** Clients move cache marks from turn to turn. */
const CACHE_MARK = /,?\s*"cache_control"\s*:\s*\{[^}]*\}/g;

/** Only the first user message: later messages differ from turn to turn, and many conversations share the system prompt. */
function firstUserText({ bytes, spanOf }: AffinitySource): string {
  const messages = spanOf("messages");
  if (!messages) return "";
  for (const { start, end } of elementsOf(bytes, messages))
    if (isUser(bytes, start, end))
      return textOf(bytes, start, Math.min(end, start + PREFIX_BYTES)).replace(CACHE_MARK, "");
  return "";
}

/** Clients write `role` as the first or the last member of a message object. */
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
