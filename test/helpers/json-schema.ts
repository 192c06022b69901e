/**
 * A small validator of JSON schemas, for the keywords that the OpenAPI documents of weir and of OpenAI use. Unknown keywords
 * fail, so that a schema cannot say something that no test checks. Unknown members pass unless the schema forbids them.
 */
import type { Json, JsonObject } from "../../src/core/json.ts";
import { isObject } from "../../src/core/json.ts";

/** Schemas by the last segment of the `$ref` that leads to them. */
export type Definitions = JsonObject;

type Rule = (
  given: Json,
  value: Json,
  path: string,
  schema: JsonObject,
  definitions: Definitions,
) => string[];

/** Describes what is wrong with a value; empty if nothing is. */
export function schemaFaults(
  schema: Json | undefined,
  value: Json,
  definitions: Definitions = {},
  path = "$",
): string[] {
  if (schema === true || schema === undefined) return [];
  if (!isObject(schema)) return [`${path} must be absent`];
  if (value === null && schema.nullable === true) return [];
  return members(schema).flatMap(([keyword, given]) => {
    const rule = RULES[keyword];
    if (rule) return rule(given, value, path, schema, definitions);
    return NOTES.has(keyword) || keyword.startsWith("x-") ? [] : [`${path}: no rule for ${keyword}`];
  });
}

/** Keywords that say nothing of the value, or stand beside others that do. */
const NOTES = new Set(
  "title description default example examples deprecated discriminator nullable format readOnly externalDocs contentMediaType $id".split(
    " ",
  ),
);

const RULES: Record<string, Rule> = {
  $ref: (given, value, path, _schema, definitions) =>
    schemaFaults(definitions[String(given).split("/").at(-1)!] ?? false, value, definitions, path),
  type: (given, value, path) => {
    const types = Array.isArray(given) ? given : [given];
    return types.some((type) => isOfType(type, value)) ? [] : [`${path} is no ${types.join("|")}`];
  },
  enum: (given, value, path) =>
    (given as Json[]).includes(value) ? [] : [`${path} is none of ${String(given)}`],
  const: (given, value, path) => (value === given ? [] : [`${path} is not ${String(given)}`]),
  pattern: onText((text, pattern) => new RegExp(String(pattern)).test(text), "does not match"),
  minLength: onText((text, least) => [...text].length >= Number(least), "is shorter than"),
  maxLength: onText((text, most) => [...text].length <= Number(most), "is longer than"),
  minimum: onNumber((number, least) => number >= least, "is less than"),
  maximum: onNumber((number, most) => number <= most, "is more than"),
  minItems: onList((list, least) => list.length >= least, "has fewer items than"),
  maxItems: onList((list, most) => list.length <= most, "has more items than"),
  items: (given, value, path, schema, definitions) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => {
          const own = Array.isArray(schema.prefixItems) ? schema.prefixItems[index] : undefined;
          return schemaFaults(own ?? given, item, definitions, `${path}[${index}]`);
        })
      : [],
  // Checked with `items`.
  prefixItems: () => [],
  contentSchema: (given, value, path, _schema, definitions) =>
    typeof value === "string" ? schemaFaults(given, parse(value), definitions, `${path} as JSON`) : [],
  not: (given, value, path, _schema, definitions) =>
    schemaFaults(given, value, definitions, path).length > 0 ? [] : [`${path} is what it must not be`],
  allOf: (given, value, path, _schema, definitions) =>
    (given as Json[]).flatMap((part) => schemaFaults(part, value, definitions, path)),
  anyOf: nearest,
  oneOf: nearest,
  required: (given, value, path) =>
    isObject(value)
      ? (given as string[])
          .filter((name) => value[name] === undefined)
          .map((name) => `${path} has no ${name}`)
      : [],
  properties: (given, value, path, _schema, definitions) =>
    members(value).flatMap(([name, member]) =>
      Object.hasOwn(given as JsonObject, name)
        ? schemaFaults((given as JsonObject)[name], member, definitions, `${path}.${name}`)
        : [],
    ),
  patternProperties: (given, value, path, _schema, definitions) =>
    members(value).flatMap(([name, member]) =>
      Object.entries(given as JsonObject).flatMap(([pattern, schema]) =>
        new RegExp(pattern).test(name) ? schemaFaults(schema, member, definitions, `${path}.${name}`) : [],
      ),
    ),
  additionalProperties: (given, value, path, schema, definitions) =>
    members(value).flatMap(([name, member]) =>
      Object.hasOwn(isObject(schema.properties) ? schema.properties : {}, name)
        ? []
        : schemaFaults(given, member, definitions, `${path}.${name}`),
    ),
};

/** The faults of the alternative that comes closest. */
function nearest(
  given: Json,
  value: Json,
  path: string,
  _schema: JsonObject,
  definitions: Definitions,
): string[] {
  const attempts = (given as Json[]).map((schema) => schemaFaults(schema, value, definitions, path));
  const best = attempts.reduce((least, attempt) => (attempt.length < least.length ? attempt : least));
  return best.map((fault) => `${fault} (nearest of ${attempts.length})`);
}

function isOfType(type: Json, value: Json): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

function onText(fits: (text: string, given: Json) => boolean, what: string): Rule {
  return (given, value, path) =>
    typeof value !== "string" || fits(value, given) ? [] : [`${path} ${what} ${String(given)}`];
}

function onNumber(fits: (number: number, given: number) => boolean, what: string): Rule {
  return (given, value, path) =>
    typeof value !== "number" || fits(value, Number(given)) ? [] : [`${path} ${what} ${String(given)}`];
}

function onList(fits: (list: Json[], given: number) => boolean, what: string): Rule {
  return (given, value, path) =>
    !Array.isArray(value) || fits(value, Number(given)) ? [] : [`${path} ${what} ${String(given)}`];
}

function members(value: Json): [string, Json][] {
  const all = Object.entries(isObject(value) ? value : {});
  return all.filter((entry): entry is [string, Json] => entry[1] !== undefined);
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
