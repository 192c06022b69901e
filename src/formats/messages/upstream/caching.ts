/** Places cache marks on tools, system blocks and messages (src/formats/README.md#cache-marks). */
import type { CacheMark, ChatRequest } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { EncodeContext } from "./content.ts";

/** Maximum number of marks in a request. */
const MAX_MARKS = 4;

/** Places the marks of a finished body, in place. */
export function placeCacheMarks(body: JsonObject, request: ChatRequest, context: EncodeContext): void {
  if (request.cache) {
    if (takesTopLevel(context)) body.cache_control = mark(request.cache);
    else if (context.facts.claude) markEnds(body, request.cache);
  }
  const marked = collect(body).filter((block) => block.cache_control !== undefined);
  const most = body.cache_control === undefined ? MAX_MARKS : MAX_MARKS - 1;
  for (const block of marked.slice(0, Math.max(0, marked.length - most))) delete block.cache_control;
  raiseLifetimes([...marked.slice(-most), body]);
}

/** Whether the request may have a top-level mark: a client of this format decides itself, for others the trait does. */
function takesTopLevel({ sameFormat, traits }: EncodeContext): boolean {
  return sameFormat || traits.topLevelCacheControl === true;
}

function mark(cache: CacheMark): JsonObject {
  return { type: "ephemeral", ...cache };
}

/** Returns all objects that can have a mark, in the order of caching: tools, system, messages with content of results. */
function collect(body: JsonObject): JsonObject[] {
  const messages = objectsIn(body.messages).flatMap(({ content }) => objectsIn(content));
  const inMessages = messages.flatMap((block) => [...objectsIn(block.content), block]);
  return [...objectsIn(body.tools), ...objectsIn(body.system), ...inMessages];
}

function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Marks the last tool, the last system block and the last user block; keeps marks of the client. */
function markEnds(body: JsonObject, cache: CacheMark): void {
  const tool = objectsIn(body.tools).findLast((declared) => declared.defer_loading !== true);
  const system = objectsIn(body.system).at(-1);
  const user = objectsIn(body.messages).findLast(({ role }) => role === "user");
  for (const block of [tool, system, objectsIn(user?.content).at(-1)])
    if (block) block.cache_control ??= mark(cache);
}

/** Raises the lifetime of earlier marks: Anthropic refuses a long-lived mark after a short-lived one. */
function raiseLifetimes(marked: readonly JsonObject[]): void {
  let long = false;
  for (const { cache_control } of [...marked].reverse()) {
    if (!isObject(cache_control)) continue;
    if (cache_control.ttl === "1h") long = true;
    else if (long) cache_control.ttl = "1h";
  }
}
