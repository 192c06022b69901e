/** Places cache points in tools, system prompt and messages (src/formats/README.md#cache-marks). */
import type { Block, CacheMark, ChatRequest, Tool } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { CachePlace, ModelFacts } from "../models.ts";
import type { EncodeContext } from "./context.ts";

/** Maximum number of cache points in a request. */
const MAX_POINTS = 4;

/**
 * Appends the blocks of one part of the request, and a cache point if the part is marked. The provider refuses a point behind a
 * document that is not a PDF: it comes before the part then.
 */
export function addMarked(
  list: JsonObject[],
  blocks: readonly JsonObject[],
  marked: Block | Tool,
  place: CachePlace,
  path: string,
  { facts, reportLoss }: Pick<EncodeContext, "facts" | "reportLoss">,
): void {
  const mark = "cache" in marked ? marked.cache : undefined;
  list.push(...blocks);
  if (!mark || blocks.length === 0 || !facts.cachePoints.includes(place)) return;
  if (isUnmarkable(blocks.at(-1)!))
    reportLoss(
      "converted",
      path,
      "the provider takes no cache mark behind this document; weir marks what comes before it",
    );
  addPoint(list, cachePoint(mark, facts));
}

/** Adds a point at the end of a list, or before the documents at its end that allow none. */
function addPoint(list: JsonObject[], point: JsonObject): void {
  const end = list.findLastIndex((element) => !isUnmarkable(element));
  if (end >= 0 && !isPoint(list[end]!)) list.splice(end + 1, 0, point);
}

function cachePoint({ ttl }: CacheMark, { hourCache }: ModelFacts): JsonObject {
  return { cachePoint: { type: "default", ...(ttl === "1h" && hourCache && { ttl }) } };
}

function isUnmarkable({ document }: JsonObject): boolean {
  return isObject(document) && document.format !== "pdf";
}

interface Message {
  role: string;
  content: JsonObject[];
}

/** The lists of a body that may contain cache points, in the order of caching. */
export interface CacheLists {
  tools: JsonObject[];
  system: JsonObject[];
  messages: readonly Message[];
}

/** Marks the ends of the lists if the request asks for it, and leaves the last four points, in place. */
export function settleCachePoints(lists: CacheLists, request: ChatRequest, { facts }: EncodeContext): void {
  if (request.cache) markEnds(lists, cachePoint(request.cache, facts), facts);
  const all = [lists.tools, lists.system, ...lists.messages.map(({ content }) => content)];
  const points = all.flatMap((list) => list.filter(isPoint));
  const surplus = new Set(points.slice(0, Math.max(0, points.length - MAX_POINTS)));
  if (surplus.size > 0)
    for (const list of all) list.splice(0, list.length, ...list.filter((element) => !surplus.has(element)));
  raiseLifetimes(points.slice(surplus.size));
}

function isPoint({ cachePoint: point }: JsonObject): boolean {
  return point !== undefined;
}

/** @param point copied, because its lifetime may be raised */
function markEnds(
  { tools, system, messages }: CacheLists,
  point: JsonObject,
  { cachePoints }: ModelFacts,
): void {
  const content = messages.findLast(({ role }) => role === "user")?.content;
  const lists: Record<CachePlace, JsonObject[] | undefined> = { tools, system, content };
  for (const place of cachePoints) {
    const list = lists[place];
    if (list) addPoint(list, structuredClone(point));
  }
}

/** Raises the lifetime of earlier points: Anthropic refuses a long-lived one after a short-lived one. */
function raiseLifetimes(points: readonly JsonObject[]): void {
  let long = false;
  for (const { cachePoint: point } of [...points].reverse()) {
    if (!isObject(point)) continue;
    if (point.ttl === "1h") long = true;
    else if (long) point.ttl = "1h";
  }
}
