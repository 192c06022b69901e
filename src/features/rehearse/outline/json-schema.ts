/** The outline of a JSON Schema that a client declares: its keywords stay, names and texts are replaced. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Placeholders } from "./placeholders.ts";
import { freeJson } from "./free-json.ts";

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

/** Values of keywords: types, formats, kinds of content, and the dialects of JSON Schema. */
const WORDS = new Set(
  `string number integer boolean object array null STRING NUMBER INTEGER BOOLEAN OBJECT ARRAY NULL TYPE_UNSPECIFIED
  date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri url uri-reference uri-template iri iri-reference
  uuid json-pointer relative-json-pointer regex int32 int64 uint32 uint64 float double decimal byte binary password enum
  base64 base64url 7bit 8bit quoted-printable text/plain text/html text/markdown application/json image/png image/jpeg`.split(
    /\s+/,
  ),
);

const DIALECT = /^https?:\/\/json-schema\.org\/(?:draft-0\d|draft\/20\d\d-\d\d)\/schema#?$/;

export function schemaOutline(schema: Json, made: Placeholders): Json {
  if (Array.isArray(schema)) return schema.map((one) => schemaOutline(one, made));
  if (!isObject(schema)) return freeJson(schema, made);
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
  if (typeof value === "string") return WORDS.has(value) || DIALECT.test(value) ? value : made.name(value);
  if (Array.isArray(value)) return value.map((one) => keyword(one, made));
  return schemaOutline(value, made);
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
  return value
    .split("/")
    .map((part) => (part === "#" || NAMED.has(part) || KEYWORDS.has(part) ? part : made.name(part)))
    .join("/");
}
