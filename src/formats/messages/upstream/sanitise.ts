/**
 * JSON schemas as Anthropic's constrained output takes them (contract B.5, E.1.5). What it does not know is moved into the
 * description, where the model still reads it.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

export interface Sanitised {
  schema: JsonObject;
  /** A constraint was moved or changed. */
  changed: boolean;
  /** The schema refers to itself, which cannot be compiled; `schema` is of no use then. */
  recursive: boolean;
  /** Object members that may be left out, and members of more than one type: both are limited over all strict schemas. */
  optional: number;
  unions: number;
}

/** Keywords that pass as they are. */
const PLAIN = new Set(["type", "enum", "const", "description", "title", "default", "required", "$ref"]);
/** Keywords that hold a schema, a list of schemas, or schemas by name. */
const NESTED = new Set(["items", "anyOf", "oneOf", "allOf", "properties", "$defs", "definitions"]);
/** Keywords that say nothing of the value. */
const SILENT = new Set(["$schema", "$id", "$comment", "$anchor"]);

const FORMATS = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** Look-around, back references and word boundaries cannot be compiled. */
const HARD_PATTERN = /\(\?[=!<]|\\[bB1-9]|\(\?P?</;

/** @param schema the schema of an answer or of a strict tool; it is not changed. */
export function sanitiseSchema(schema: JsonObject): Sanitised {
  const found: Sanitised = { schema, changed: false, recursive: isRecursive(schema), optional: 0, unions: 0 };
  if (!found.recursive) found.schema = sanitise(schema, found);
  return found;
}

function sanitise(schema: JsonObject, found: Sanitised): JsonObject {
  const kept: JsonObject = {};
  const moved: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || SILENT.has(keyword)) continue;
    if (NESTED.has(keyword)) kept[keyword === "oneOf" ? "anyOf" : keyword] = sanitiseNested(value, found);
    else if (PLAIN.has(keyword) || isKnown(keyword, value)) kept[keyword] = value;
    else if (keyword !== "additionalProperties") moved.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  if (schema.oneOf !== undefined) found.changed = true;
  if (isObjectSchema(schema)) closeObject(schema, kept, moved);
  countMembers(kept, found);
  if (moved.length > 0) {
    found.changed = true;
    kept.description = `${typeof kept.description === "string" ? `${kept.description}\n` : ""}{${moved.join(", ")}}`;
  }
  return kept;
}

function sanitiseNested(value: Json, found: Sanitised): Json {
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? sanitise(item, found) : item));
  if (!isObject(value)) return value;
  return isSchemaMap(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, isObject(inner) ? sanitise(inner, found) : inner]),
      )
    : sanitise(value, found);
}
