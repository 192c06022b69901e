/** Places cache marks on tools, system blocks and messages (src/formats/README.md#cache-marks). */
import type { CacheMark, ChatRequest } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { EncodeContext } from "./content.ts";

/** Maximum number of marks in a request. */
const MAX_MARKS = 4;

/** Places the marks of a finished body, in place. @param messages of the body, which has them not yet */
export function placeCacheMarks(
  body: JsonObject,
  messages: readonly JsonObject[],
  request: ChatRequest,
  context: EncodeContext,
): void {
  if (request.cache) {
    if (takesTopLevel(context)) body.cache_control = mark(request.cache);
    else if (context.facts.claude) markEnds(body, messages, request.cache);
  }
  const marked: JsonObject[] = [];
  addMarked(body.tools, marked, false);
  addMarked(body.system, marked, false);
  for (const { content } of messages) addMarked(content, marked, true);
  if (marked.length === 0) return;
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

/** Adds the objects of a list that have a mark, in the order of caching. @param withResults the content of results before them */
function addMarked(value: Json | undefined, marked: JsonObject[], withResults: boolean): void {
  if (!Array.isArray(value)) return;
  for (const item of value) {
    if (!isObject(item)) continue;
    if (withResults) addMarked(item.content, marked, false);
    if (item.cache_control !== undefined) marked.push(item);
  }
}

function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Marks the last tool, the last system block and the last user block; keeps marks of the client. */
function markEnds(body: JsonObject, messages: readonly JsonObject[], cache: CacheMark): void {
  const tool = objectsIn(body.tools).findLast((declared) => declared.defer_loading !== true);
  const system = objectsIn(body.system).at(-1);
  const user = messages.findLast(({ role }) => role === "user");
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
