/** What weir reads of events: their type, and a few members of few types. All else passes unread. */
import { isObject, type JsonObject } from "../../core/json.ts";

const TYPE_FIRST = /^\s*\{\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"type"\s*:\s*"([^"\\]*)"/;
const NAME = '"type"';

/** An event as weir knows it. */
export interface SeenEvent {
  readonly type: string;
  /** Parsed at the first use. */
  readonly body: JsonObject;
}

/**
 * The type of a provider's event, by its first members. An event that has it elsewhere is parsed.
 * @returns undefined: it is no event
 */
export function typeOfVendor(text: string): string | undefined {
  return TYPE_FIRST.exec(text.slice(0, 256))?.[1] ?? parsedType(text);
}

/**
 * The type of a client's event. A second `type` or an escape could show weir another type than the provider, so such an event is
 * parsed. Base64 has neither.
 * @returns undefined: it is no event
 */
export function typeOfClient(text: string): string | undefined {
  const found = TYPE_FIRST.exec(text.slice(0, 256));
  if (!found || text.includes("\\") || text.includes(NAME, found[0].length)) return parsedType(text);
  return found[1];
}

function parsedType(text: string): string | undefined {
  const type = parsed(text)?.["type"];
  return typeof type === "string" ? type : undefined;
}

/** @returns undefined for what is no JSON object */
export function parsed(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** A member of members; undefined where one of them is missing. */
export function at(value: unknown, ...names: readonly string[]): unknown {
  let found = value;
  for (const name of names) {
    if (!isObject(found)) return undefined;
    found = (found as JsonObject)[name];
  }
  return found;
}

export function textAt(value: unknown, ...names: readonly string[]): string | undefined {
  const found = at(value, ...names);
  return typeof found === "string" ? found : undefined;
}

/** A whole number that is not negative; else 0. */
export function countAt(value: unknown, ...names: readonly string[]): number {
  const found = at(value, ...names);
  return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : 0;
}
