/** The outline of a JSON Schema that a client declares: its keywords stay, names and texts are replaced. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Placeholders } from "./placeholders.ts";
import { freeJson } from "./free-json.ts";
import { isWord } from "./vocabulary.ts";

/** Members whose members are names of the client. */
const NAMED = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependentRequired",
]);

/** Members that are texts. */
const TEXTS = new Set(["description", "title", "$comment", "pattern", "$id", "$anchor"]);

/** Members that hold values of the client. */
const VALUES = new Set(["enum", "const", "default", "examples", "example"]);

/** Members that hold names of the client. */
const NAMES = new Set(["required", "propertyOrdering"]);

/** Keywords of JSON Schema and those that vendors add. */
const KEYWORDS = new Set(
  `type format items prefixItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames
  anyOf oneOf allOf not if then else minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength
  minItems maxItems minContains maxContains uniqueItems minProperties maxProperties nullable deprecated readOnly writeOnly
  contentEncoding contentMediaType $schema $ref strict discriminator`.split(/\s+/),
);

export function schemaOutline(schema: Json, made: Placeholders): Json {
  if (Array.isArray(schema)) return schema.map((one) => schemaOutline(one, made));
  if (!isObject(schema)) return schema;
  const outline: JsonObject = {};
  for (const [name, value] of Object.entries(schema)) {
    if (NAMED.has(name) && isObject(value)) outline[name] = named(value, made);
    else if (TEXTS.has(name))
      outline[name] = typeof value === "string" ? made.text(value) : freeJson(value!, made);
    else if (VALUES.has(name)) outline[name] = freeJson(value!, made);
    else if (NAMES.has(name)) outline[name] = names(value!, made);
    else if (name === "$ref" && typeof value === "string") outline[name] = reference(value, made);
    else if (KEYWORDS.has(name)) outline[name] = keyword(value!, made);
    else outline[made.name(name)] = freeJson(value!, made);
  }
  return outline;
}

function keyword(value: Json, made: Placeholders): Json {
  if (typeof value === "string")
    return isWord(value) || value.startsWith("http") ? wordOf(value) : made.name(value);
  if (Array.isArray(value)) return value.map((one) => keyword(one, made));
  return schemaOutline(value, made);
}

/** The address of a dialect is that of json-schema.org alone. */
function wordOf(value: string): string {
  if (!value.startsWith("http")) return value;
  return /^https?:\/\/json-schema\.org\/[\w\/.-]+#?$/.test(value) ? value : "https://x.invalid/";
}

function named(members: JsonObject, made: Placeholders): JsonObject {
  const entries = Object.entries(members).map(([name, value]) => [
    made.name(name),
    Array.isArray(value) ? names(value, made) : schemaOutline(value!, made),
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

function names(value: Json, made: Placeholders): Json {
  if (!Array.isArray(value)) return freeJson(value, made);
  return value.map((one) => (typeof one === "string" ? made.name(one) : freeJson(one, made)));
}

/** `#/$defs/Address`: the names of the client between the keywords. */
function reference(value: string, made: Placeholders): string {
  const parts = value.split("/");
  return parts
    .map((part, at) => (at === 0 || NAMED.has(part) || KEYWORDS.has(part) ? part : made.name(part)))
    .join("/");
}
