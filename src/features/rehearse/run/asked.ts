/** The request of an outline, as both sides of a rehearsal get it. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { expand, isShort } from "../outline/placeholders.ts";
import type { Outline } from "../outline/outline.ts";

export interface Asked {
  readonly outline: Outline;
  readonly body: JsonObject;
  readonly bytes: Uint8Array;
  readonly headers: Headers;
}

/** Puts texts of the length of the client's in the place of short placeholders. */
export function askedBy(outline: Outline): Asked {
  const body = outline.isWhole ? outline.body : (expanded(outline.body) as JsonObject);
  const written = Buffer.from(JSON.stringify(body));
  const missing = outline.bytes - written.length;
  const bytes = missing > 0 ? Buffer.concat([written, Buffer.alloc(missing, " ")]) : written;
  return { outline, body, bytes, headers: new Headers(outline.headers) };
}

function expanded(value: Json): Json {
  if (typeof value === "string") return isShort(value) ? expand(value) : value;
  if (Array.isArray(value)) return value.map(expanded);
  if (typeof value !== "object" || value === null) return value;
  const made: JsonObject = {};
  for (const [name, one] of Object.entries(value)) made[isShort(name) ? expand(name) : name] = expanded(one!);
  return made;
}
