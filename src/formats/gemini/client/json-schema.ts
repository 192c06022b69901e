/**
 * Converts the schemas of the Gemini API, a subset of OpenAPI, to JSON Schema: types in lower case, `nullable` as a type.
 * Clients also write upper-case types into the members for JSON Schema.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/** Keywords with one schema, a list of schemas, and schemas by name. */
const ONE = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];

/** Counts that protobuf writes as text, because they are 64-bit integers. */
const COUNTS = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/** The schema itself if it is JSON Schema already. */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const converted: JsonObject = { ...schema };
  let changed = false;
  const set = (name: string, value: Json | undefined) => {
    if (value === schema[name]) return;
    changed = true;
    if (value === undefined) delete converted[name];
    else converted[name] = value;
  };
  for (const name of ONE) if (isObject(schema[name])) set(name, toJsonSchema(schema[name]));
  for (const name of LISTS) if (Array.isArray(schema[name])) set(name, convertList(schema[name]));
  for (const name of NAMED) if (isObject(schema[name])) set(name, convertNamed(schema[name]));
  for (const name of COUNTS) {
    const text = schema[name];
    if (typeof text === "string" && /^\d+$/.test(text)) set(name, Number(text));
  }
  set("type", convertType(schema));
  if (schema.nullable === true && Array.isArray(schema.enum) && !schema.enum.includes(null))
    set("enum", [...schema.enum, null]);
  set("nullable", undefined);
  set("propertyOrdering", undefined);
  if (schema.format === "enum") set("format", undefined);
  return changed ? converted : schema;
}

/** The types by the number that clients of protobuf may send. */
const TYPES = ["TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

function convertType({ type: given, nullable }: JsonObject): Json | undefined {
  const type = typeof given === "number" ? TYPES[given] : given;
  if (Array.isArray(type)) {
    const types = type.map((one) => (typeof one === "string" ? one.toLowerCase() : one));
    return types.some((one, index) => one !== type[index]) ? types : type;
  }
  if (typeof type !== "string") return type ?? undefined;
  if (type === "TYPE_UNSPECIFIED") return undefined;
  const plain = type.toLowerCase();
  return nullable === true && plain !== "null" ? [plain, "null"] : plain;
}

function convertList(schemas: readonly Json[]): Json[] {
  const converted = schemas.map((one) => (isObject(one) ? toJsonSchema(one) : one));
  return converted.some((one, index) => one !== schemas[index]) ? converted : (schemas as Json[]);
}

function convertNamed(schemas: JsonObject): JsonObject {
  const entries = Object.entries(schemas);
  const converted = entries.map(([name, one]) => [name, isObject(one) ? toJsonSchema(one) : one] as const);
  return converted.some(([name, one]) => one !== schemas[name]) ? Object.fromEntries(converted) : schemas;
}
