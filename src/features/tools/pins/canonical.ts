/** What of a tool's definition is pinned, in one form: the order of members makes no difference. */
import type { Json, JsonObject } from "../../../core/json.ts";

/** The members that a model, or the code that calls for it, reads. */
const PINNED = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"] as const;

/** Values deeper than this are compared as they are written. */
const MAX_DEPTH = 200;

/** JSON whose members are sorted by the code units of their names. */
export function canonicalJson(value: Json | undefined, depth = 0): string {
  if (Array.isArray(value) && depth < MAX_DEPTH)
    return `[${value.map((one) => canonicalJson(one, depth + 1)).join(",")}]`;
  if (typeof value !== "object" || value === null || isRaw(value) || depth >= MAX_DEPTH)
    return JSON.stringify(value ?? null);
  const object = value as JsonObject;
  const members = Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name], depth + 1)}`);
  return `{${members.join(",")}}`;
}

/** Whether a value is a number with more digits than JavaScript has. */
export function isRaw(value: object): boolean {
  const { isRawJSON } = JSON as unknown as { isRawJSON?: (value: unknown) => boolean };
  return isRawJSON?.(value) ?? false;
}

/** The pinned part of a definition. */
export function pinnedPart(definition: JsonObject): JsonObject {
  return Object.fromEntries(
    PINNED.flatMap((name) => (definition[name] === undefined ? [] : [[name, definition[name]]])),
  );
}

const hashes = new WeakMap<JsonObject, string>();

/** SHA-256 of the pinned part in its canonical form, in hexadecimal digits. The definition must not be changed afterwards. */
export function pinOf(definition: JsonObject): string {
  const known = hashes.get(definition);
  if (known !== undefined) return known;
  const text = canonicalJson(pinnedPart(definition));
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  hashes.set(definition, hash);
  return hash;
}

/** The name of a definition. */
export function nameOf({ name }: JsonObject): string {
  return typeof name === "string" ? name : "";
}
