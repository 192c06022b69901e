/** What differs between the eras in answers. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import { type Answered, CODE } from "../wire/messages.ts";
import { CACHEABLE, type Era } from "../wire/revisions.ts";
import type { Exchange, Forwarded } from "./exchange.ts";

/** An answer of a server as a client of another era reads it. @param era that of the server */
export function translated(exchange: Exchange, era: Era, asked: Forwarded, answered: Answered): Answered {
  if (exchange.era === era) return answered;
  return era === "legacy" ? toModern(asked, answered) : toLegacy(asked, answered);
}

function toModern({ method, params }: Forwarded, answered: Answered): Answered {
  if ("error" in answered) {
    const { code, message, data } = answered.error;
    const isUnknown = code === CODE.resource || (method === "resources/read" && code === CODE.params);
    if (isUnknown && !(isObject(data) && "uri" in data))
      return { error: { code: CODE.params, message, data: { uri: params["uri"] } } };
    const needed = code === CODE.url ? urlRequests(data) : undefined;
    return needed ? { result: { resultType: "input_required", inputRequests: needed } } : answered;
  }
  const hints = CACHEABLE.has(method) ? { ttlMs: 0, cacheScope: "private" } : {};
  return { result: { ...hints, ...answered.result } };
}

/** The server needs the user at URLs: a modern client gets them as requests. */
function urlRequests(data: unknown): JsonObject | undefined {
  const list = isObject(data) ? data["elicitations"] : undefined;
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const requests = list
    .filter((one) => isObject(one))
    .map((one, at) => [`url-${at + 1}`, { method: "elicitation/create", params: one }] as const);
  return Object.fromEntries(requests);
}

function toLegacy({ method }: Forwarded, answered: Answered): Answered {
  if ("error" in answered) {
    const { code, message, data } = answered.error;
    const isResource = method === "resources/read" && code === CODE.params && isObject(data) && "uri" in data;
    return isResource ? { error: { code: CODE.resource, message, data } } : answered;
  }
  const { structuredContent, ...result } = answered.result;
  if (structuredContent === undefined) return answered;
  // Before 2026-07-28 it is an object; another value goes as text.
  if (isObject(structuredContent)) return answered;
  const content = Array.isArray(result["content"]) ? result["content"] : [];
  const text = { type: "text", text: JSON.stringify(structuredContent) };
  return { result: { ...result, content: content.length > 0 ? content : [text] } };
}
