/** Walks the sub-schemas of a JSON schema. Names of properties are data, whatever they are called. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/** Keywords whose value maps names to schemas. */
const MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
/** Keywords whose value is a schema or a list of schemas. */
const SCHEMAS: ReadonlySet<string> = new Set([
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "contains",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
]);

/** The value of a keyword with each schema in it mapped; values of other keywords stay. */
export function mapSchemas(keyword: string, value: Json, map: (schema: Json) => Json): Json {
  if (MAPS.has(keyword) && isObject(value)) return mapMembers(value, map);
  if (!SCHEMAS.has(keyword)) return value;
  return Array.isArray(value) ? value.map(map) : map(value);
}

/** Maps the values of an object, also that of a member named `__proto__`. */
export function mapMembers(value: JsonObject, map: (schema: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, map(inner ?? null)]));
}
