/**
 * The two ways in which Google takes a schema: as JSON schema (`parametersJsonSchema`, `responseJsonSchema`), or as a subset of
 * OpenAPI (`parameters`, `responseSchema`), which refuses the request for any keyword that it does not know.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { EncodeContext } from "./content.ts";
import { nativeSchema } from "./native-schema.ts";
import { openapiSchema } from "./openapi-schema.ts";

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
