/**
 * A JSON schema as Google takes it in `parametersJsonSchema` and `responseJsonSchema`. Every keyword that is left out is a
 * constraint lost, so weir changes only what Google refuses: it knows no `const`, and no keywords beside `$ref`.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { mapSchemas } from "./sub-schemas.ts";

const META: ReadonlySet<string> = new Set(["$schema", "$id", "$comment"]);

export function nativeSchema(schema: JsonObject): JsonObject {
  const hasRef = typeof schema.$ref === "string";
  const kept: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || META.has(keyword) || (hasRef && !keyword.startsWith("$"))) continue;
    if (keyword === "const") {
      if (schema.enum === undefined) kept.enum = [value];
    } else kept[keyword] = keyword === "type" ? lowerCase(value) : mapSchemas(keyword, value, nativeValue);
  }
  return kept;
}

/** Schemas may also be `true` and `false`. */
function nativeValue(value: Json): Json {
  return isObject(value) ? nativeSchema(value) : value;
}

/** Clients of this format send types in capital letters. */
function lowerCase(type: Json): Json {
  if (typeof type === "string") return type.toLowerCase();
  return Array.isArray(type) ? type.map(lowerCase) : type;
}
