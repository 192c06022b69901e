/** Where a prompt cache may cut: marks on tools, system blocks and messages (src/formats/README.md#cache-marks). */
import type { Call } from "../../../core/call.ts";
import type { CacheMark, ChatRequest } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { ModelFacts } from "../models.ts";
import { FORMAT } from "./content.ts";

/** Most marks of a request. */
const MAX_MARKS = 4;

/** Edits the marks of a finished body in place. */
export function placeCacheMarks(body: JsonObject, request: ChatRequest, facts: ModelFacts, call: Call): void {
  if (request.cache) {
    if (takesTopLevel(call)) body.cache_control = mark(request.cache);
    else if (facts.claude) markEnds(body, request.cache);
  }
  const marked = collect(body).filter((block) => block.cache_control !== undefined);
  const most = body.cache_control === undefined ? MAX_MARKS : MAX_MARKS - 1;
  for (const block of marked.slice(0, Math.max(0, marked.length - most))) delete block.cache_control;
  raiseLifetimes([...marked.slice(-most), body]);
}

/** A client of this format that writes the field knows its upstream; for others it is the provider's trait. */
function takesTopLevel(call: Call): boolean {
  return call.format === FORMAT || call.target?.provider.traits?.topLevelCacheControl === true;
}

function mark(cache: CacheMark): JsonObject {
  return { type: "ephemeral", ...cache };
}

/** Everything that can carry a mark, in the order it is cached: tools, system, messages and what is inside results. */
function collect(body: JsonObject): JsonObject[] {
  const messages = objectsIn(body.messages).flatMap(({ content }) => objectsIn(content));
  const inMessages = messages.flatMap((block) => [...objectsIn(block.content), block]);
  return [...objectsIn(body.tools), ...objectsIn(body.system), ...inMessages];
}

function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Marks the last tool, the last system block and the last block of the user; marks of the client's own stay. */
function markEnds(body: JsonObject, cache: CacheMark): void {
  const tool = objectsIn(body.tools).findLast((declared) => declared.defer_loading !== true);
  const system = objectsIn(body.system).at(-1);
  const user = objectsIn(body.messages).findLast(({ role }) => role === "user");
  for (const block of [tool, system, objectsIn(user?.content).at(-1)])
    if (block) block.cache_control ??= mark(cache);
}

/** A long-lived mark behind a short-lived one is refused: the ones in front live as long. */
function raiseLifetimes(marked: readonly JsonObject[]): void {
  let long = false;
  for (const { cache_control } of [...marked].reverse()) {
    if (!isObject(cache_control)) continue;
    if (cache_control.ttl === "1h") long = true;
    else if (long) cache_control.ttl = "1h";
  }
}
