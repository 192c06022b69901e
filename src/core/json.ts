/** A value as `JSON.parse` returns it. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** A JSON object. Absent members read as `undefined`. */
export type JsonObject = { [key: string]: Json | undefined };

/** Whether a value is a JSON object (neither null nor an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses JSON text; `undefined` for invalid JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
