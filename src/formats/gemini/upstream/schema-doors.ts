/**
 * The two ways in which Google takes a schema: as JSON schema (`parametersJsonSchema`, `responseJsonSchema`), or as a subset of
 * OpenAPI (`parameters`, `responseSchema`), which refuses the request for any keyword that it does not know.
 */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { EncodeContext } from "./content.ts";
import { openapiSchema } from "./openapi-schema.ts";
import { mapSchemas } from "./sub-schemas.ts";

/** The member with the arguments of a function; none for a function without arguments. @param path for losses */
export function parameterMember(
  schema: JsonObject | undefined,
  path: string,
  context: EncodeContext,
): JsonObject {
  if (isBare(schema)) return {};
  return schemaMember(schema!, path, context, ["parametersJsonSchema", "parameters"]);
}

/** The member with the schema of the answer. @param path for losses */
export function responseMember(schema: JsonObject, path: string, context: EncodeContext): JsonObject {
  return schemaMember(schema, path, context, ["responseJsonSchema", "responseSchema"]);
}

function schemaMember(
  schema: JsonObject,
  path: string,
  { traits, reportLoss }: EncodeContext,
  [native, openapi]: readonly [string, string],
): JsonObject {
  if (traits.jsonSchema !== "openapi") return { [native]: nativeSchema(schema) };
  const { schema: sent, described } = openapiSchema(schema);
  if (described) reportLoss("converted", path, "constraints are described, not enforced");
  return { [openapi]: sent };
}

const COMBINERS = ["anyOf", "oneOf", "allOf", "$ref", "patternProperties"] as const;

/** Whether a schema allows no properties: Google wants no schema then. */
function isBare(schema: Json | undefined): boolean {
  if (!isObject(schema)) return true;
  const { type, properties } = schema;
  const isEmpty = properties === undefined || (isObject(properties) && Object.keys(properties).length === 0);
  return isEmpty && (type === undefined || type === "object") && !COMBINERS.some((name) => name in schema);
}

const META: ReadonlySet<string> = new Set(["$schema", "$id", "$comment"]);

/**
 * Returns a schema as Google takes it in `parametersJsonSchema` and `responseJsonSchema`. Every keyword that is left out is a
 * constraint lost, so weir changes only what Google refuses: it knows no `const`, and no keywords beside `$ref`.
 */
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
