/** Reads requests that have a provider keep the beginning of prompts. */
import type { CacheRequest } from "../../core/cached-content.ts";
import { invalidRequest } from "../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { fault, missing } from "../../formats/shared/request-fault.ts";

export const DIALECT = "gemini-caches";

/** Google's default. Seconds. */
const USUAL_SECONDS = 3_600;
/** A year: longer times are more often a mistake, and their hold would be too. Seconds. */
const MOST_SECONDS = 366 * 86_400;

const MODELS = "models/";

/** Google's clients write `models/` before the name. */
export function readModel(name: string): string {
  return name.startsWith(MODELS) ? name.slice(MODELS.length) : name;
}

export function writeModel(model: string): string {
  return MODELS + readModel(model);
}

/** Google's APIs take each member in both spellings. */
function member(body: JsonObject, camel: string): Json | undefined {
  return body[camel] ?? body[camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] ?? undefined;
}

export function checkRequest(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const { model, contents, tools } = body;
  if (model == null) throw missing("model");
  if (typeof model !== "string" || readModel(model) === "") throw fault("model", "the name of a model");
  if (contents != null && !(Array.isArray(contents) && contents.every(isObject)))
    throw fault("contents", "a list of turns");
  const system = member(body, "systemInstruction");
  if (contents == null && system == null) throw missing("contents");
  if (system != null && !isObject(system)) throw fault("systemInstruction", "an object with `parts`");
  if (tools != null && !(Array.isArray(tools) && tools.every(isObject)))
    throw fault("tools", "a list of tools");
  const displayName = member(body, "displayName");
  if (displayName != null && typeof displayName !== "string") throw fault("displayName", "a text");
  secondsIn(body, Date.now());
}

/**
 * How long something is to be kept. Seconds from `now`.
 * @param now milliseconds since 1970 @returns undefined: the body does not say
 * @throws GatewayError `invalid-request` for what is no time, has passed, or is more than a year away
 */
export function secondsSaid(body: JsonObject, now: number): number | undefined {
  const ttl = member(body, "ttl");
  const until = member(body, "expireTime");
  if (ttl != null && until != null) throw invalidRequest("Give `ttl` or `expireTime`, not both.", "ttl");
  if (ttl != null)
    return within("ttl", typeof ttl === "string" && /^\d+(\.\d{1,9})?s$/.test(ttl) ? parseFloat(ttl) : NaN);
  if (until == null) return undefined;
  return within("expireTime", typeof until === "string" ? (Date.parse(until) - now) / 1_000 : NaN);
}

function secondsIn(body: JsonObject, now: number): number {
  return secondsSaid(body, now) ?? USUAL_SECONDS;
}

const EXPECTED = { ttl: 'a duration such as `"300s"`', expireTime: "a time to come, as RFC 3339 writes it" };

function within(name: keyof typeof EXPECTED, seconds: number): number {
  if (seconds > 0 && seconds <= MOST_SECONDS) return seconds;
  throw fault(name, `${EXPECTED[name]}, at most a year away`);
}

const PROMPT = ["contents", "systemInstruction", "tools", "toolConfig"];

export function decodeRequest(body: JsonObject): CacheRequest {
  const displayName = member(body, "displayName");
  const prompt = PROMPT.flatMap((name) => {
    const value = member(body, name);
    return value == null ? [] : [[name, value] as const];
  });
  return {
    ...{ model: body["model"] as string, dialect: DIALECT, prompt: Object.fromEntries(prompt) },
    seconds: secondsIn(body, Date.now()),
    ...(typeof displayName === "string" && { displayName }),
  };
}
