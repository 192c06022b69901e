/** The outline of JSON that belongs to the client alone: arguments and results of tools, metadata, values of a schema. */
import { isObject, type Json, parseJson } from "../../../core/json.ts";
import { USER_MEMBER } from "../../../formats/shared/session.ts";
import { LEAST_DIGITS } from "../../../stream/json-nodes.ts";
import type { Placeholders } from "./placeholders.ts";

/** Names by which Gemini tells a result from a failure. */
const RESULTS = new Set(["error", "output", "result"]);

export function freeJson(value: Json, made: Placeholders): Json {
  if (typeof value === "string") return made.name(value);
  if (typeof value === "number") return freeNumber(value);
  if (Array.isArray(value)) return value.map((one) => freeJson(one, made));
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).map(([name, one]) => {
    if (name === USER_MEMBER && typeof one === "string") return [name, userOf(one, made)];
    return [RESULTS.has(name) ? name : made.name(name), freeJson(one!, made)];
  });
  return Object.fromEntries(members) as Json;
}

/** Agents write their session into the user of a call, as JSON or at its end. */
const SESSION = "session_id";

function userOf(user: string, made: Placeholders): string {
  const parsed = user.startsWith("{") ? parseJson(user) : undefined;
  if (!isObject(parsed))
    return user
      .split("_session_")
      .map((part) => made.name(part))
      .join("_session_");
  const members = Object.entries(parsed).map(([name, one]) => [
    name === SESSION ? name : made.name(name),
    freeJson(one!, made),
  ]);
  return JSON.stringify(Object.fromEntries(members));
}

/** A number of few digits is of no one in particular. @param number as it is written */
export function isLong(number: string): boolean {
  return number.length >= LEAST_DIGITS;
}

/** A long number keeps its sign, its size, and whether it has a fraction. */
export function freeNumber(value: number): number {
  if (!isLong(String(value))) return value;
  // Ranges of options are small: 0.95 and 0.9500001 are the same to them.
  if (Math.abs(value) < 100) return Number(value.toPrecision(3));
  const size = Math.sign(value) * 10 ** Math.floor(Math.log10(Math.abs(value)));
  return Number.isInteger(value) || Math.abs(size) > 2 ** 50 ? size : size + 0.5;
}
