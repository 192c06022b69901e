/** The schema of a plugin's options, which is plain JSON, as the checks of the config read it. */
import { type TSchema, Type } from "@sinclair/typebox";
import { isObject, type JsonObject } from "../core/json.ts";

/** Keywords that weir checks, by the type of the schema; the others of JSON Schema are refused, because they would be ignored. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  boolean: [],
  array: ["minItems", "maxItems", "uniqueItems"],
  object: [],
};
const COMMON = ["type", "default", "description", "examples"];

/**
 * @param at path in the schema, for messages
 * @throws Error with a clause for a keyword or a type that weir does not know
 */
export function schemaOf(plain: unknown, at = "schema"): TSchema {
  if (!isObject(plain)) throw new Error(`${at} must be an object`);
  if (plain["enum"] !== undefined) return choiceOf(plain, at);
  if (plain["anyOf"] !== undefined) {
    const { anyOf, ...rest } = only(plain, ["anyOf", "x-expects"], at);
    if (!Array.isArray(anyOf)) throw new Error(`${at}.anyOf must be a list`);
    return Type.Union(
      anyOf.map((one, index) => schemaOf(one, `${at}.anyOf[${index}]`)),
      rest,
    );
  }
  const type = String(plain["type"]);
  const keywords = Object.hasOwn(KEYWORDS, type) ? KEYWORDS[type] : undefined;
  if (!keywords) throw new Error(`${at}.type must be one of ${Object.keys(KEYWORDS).join(", ")}`);
  if (type === "object") return objectOf(plain, at);
  if (type === "array") {
    const { items, type: _, ...rest } = only(plain, [...keywords, "items"], at);
    return Type.Array(schemaOf(items ?? { type: "string" }, `${at}.items`), rest);
  }
  const { type: _, ...rest } = only(plain, keywords, at);
  if (type === "string") return Type.String(rest);
  if (type === "boolean") return Type.Boolean(rest);
  return type === "integer" ? Type.Integer(rest) : Type.Number(rest);
}

function choiceOf(plain: JsonObject, at: string): TSchema {
  const { enum: values, type: _, ...rest } = only(plain, ["enum"], at);
  if (!Array.isArray(values) || values.some((value) => typeof value === "object"))
    throw new Error(`${at}.enum must be a list of texts, numbers, true and false`);
  return Type.Union(
    (values as (string | number | boolean)[]).map((value) => Type.Literal(value)),
    rest,
  );
}

function objectOf(plain: JsonObject, at: string): TSchema {
  const { properties = {}, required = [], type: _, ...rest } = only(plain, ["properties", "required"], at);
  if (!isObject(properties)) throw new Error(`${at}.properties must be an object`);
  const members = Object.entries(properties).map(([name, member]) => {
    const schema = schemaOf(member, `${at}.properties.${name}`);
    const isRequired = Array.isArray(required) && required.includes(name);
    return [name, isRequired ? schema : Type.Optional(schema)] as const;
  });
  return Type.Object(Object.fromEntries(members), { ...rest, additionalProperties: false });
}

/** @throws Error with a clause for a keyword besides those */
function only(plain: JsonObject, keywords: readonly string[], at: string): JsonObject {
  const unknown = Object.keys(plain).find((name) => !keywords.includes(name) && !COMMON.includes(name));
  if (unknown === undefined) return plain;
  throw new Error(`${at} has the keyword ${unknown}, which weir does not check`);
}
