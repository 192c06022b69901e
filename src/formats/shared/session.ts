/**
 * Finds what identifies a conversation in the bytes of a request, because the native lane does not parse the body. weir keeps
 * a conversation at the deployment that has its prompt in the cache.
 */
import type { SessionSource } from "../../core/format.ts";
import type { Json } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { layoutOf } from "../../stream/outline/layout.ts";
import { elementsOf, type Span } from "../../stream/scan.ts";

/** Headers in which agents name their session (Claude Code, Codex, opencode and others). */
export const SESSION_HEADERS = [
  "x-session-id",
  "session_id",
  "session-id",
  "x-claude-code-session-id",
  "thread-id",
  "x-session-affinity",
];

/** The session that the headers name. */
export function sessionInHeaders({ headers }: SessionSource): string | undefined {
  for (const name of SESSION_HEADERS) {
    const session = headers.get(name);
    if (session) return session;
  }
  return undefined;
}

/** Longer members are not parsed: they hold no session id. Bytes. */
const MAX_MEMBER_BYTES = 16 * 1024;

/** The value of a top-level member; `undefined` if it is absent or long. */
export function smallMember({ bytes, spanOf }: SessionSource, name: string): Json | undefined {
  const span = spanOf(name);
  if (!span || span.end - span.start > MAX_MEMBER_BYTES) return undefined;
  return parseJson(textOf(bytes, span.start, span.end));
}

/** Member of the metadata of a request with its user, into whom agents write their session. */
export const USER_MEMBER = "user_id";

/** The user whom the metadata of a request names: agents write their session there. */
export function userInMetadata(source: SessionSource): string | undefined {
  const metadata = smallMember(source, "metadata");
  const user = isObject(metadata) ? metadata[USER_MEMBER] : undefined;
  return typeof user === "string" && user !== "" ? user : undefined;
}

/** Length of the first user message that identifies a conversation. Bytes. */
const PREFIX_BYTES = 4096;
/** Clients move cache marks from turn to turn. */
const CACHE_MARK = /,?\s*"cache_control"\s*:\s*\{[^}]*\}/g;

/**
 * The beginning of the first message of the user: later messages differ from turn to turn, and many conversations share the
 * system prompt.
 * @param list the top-level member with the messages
 */
export function firstUserText({ bytes, spanOf }: SessionSource, list: string): string | undefined {
  const messages = spanOf(list);
  if (!messages) return undefined;
  for (const { start, end } of firstElements(bytes, messages))
    if (isUser(bytes, start, end))
      return withoutMarks(textOf(bytes, start, Math.min(end, start + PREFIX_BYTES)));
  return undefined;
}

/** The elements of a list, of one that weir has read already without another search. */
function* firstElements(bytes: Uint8Array, list: Span): Generator<Span> {
  const layout = layoutOf(bytes);
  if (!layout) return yield* elementsOf(bytes, list);
  for (const block of layout.blocksOf(list)) yield* block.elements;
}

function withoutMarks(text: string): string {
  return text.includes("cache_control") ? text.replace(CACHE_MARK, "") : text;
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
