/** The rules a schema must keep to be compiled by Anthropic, as a judge for tests. */
import type { Json } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";

const KEYWORDS = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "anyOf",
  "allOf",
  "$ref",
  "$defs",
  "definitions",
  "description",
  "title",
  "default",
  "format",
  "pattern",
  "minItems",
]);

/** What breaks a rule, by path. */
export function brokenRules(schema: Json | undefined, path = "$"): string[] {
  if (!isObject(schema)) return [];
  const broken = Object.keys(schema)
    .filter((keyword) => !KEYWORDS.has(keyword))
    .map((keyword) => `${path}.${keyword} is unknown`);
  const isObjectType =
    schema.type === "object" || (Array.isArray(schema.type) && schema.type.includes("object"));
  if ((isObjectType || isObject(schema.properties)) && schema.additionalProperties !== false)
    broken.push(`${path} is open`);
  if (typeof schema.minItems === "number" && schema.minItems > 1) broken.push(`${path}.minItems`);
  for (const map of ["properties", "$defs", "definitions"]) {
    const members = schema[map];
    if (isObject(members))
      for (const [name, inner] of Object.entries(members))
        broken.push(...brokenRules(inner, `${path}.${map}.${name}`));
  }
  for (const list of ["items", "anyOf", "allOf"]) {
    const inner = schema[list];
    for (const [index, item] of (Array.isArray(inner) ? inner : [inner]).entries())
      broken.push(...brokenRules(item, `${path}.${list}.${index}`));
  }
  return broken;
}

const CONSTRAINTS = ["minLength", "maxLength", "minimum", "maximum", "multipleOf", "maxItems", "uniqueItems"];

/** Constraints of a schema whose keyword and value are not to be found in the text of another. */
export function lostConstraints(schema: Json | undefined, sanitised: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((item) => lostConstraints(item, sanitised));
  if (!isObject(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (CONSTRAINTS.includes(keyword) && typeof value !== "object")
      return sanitised.includes(`${keyword}: ${JSON.stringify(value)}`) ? [] : [keyword];
    return keyword === "default" || keyword === "enum" || keyword === "const"
      ? []
      : lostConstraints(value, sanitised);
  });
}
