/**
 * OpenAI's published API document as a judge, read from `../shared/openapi` beside the repository. A validator of the
 * keywords its chat schemas use; unknown members pass, as they do at the vendor.
 */
import { existsSync, readFileSync } from "node:fs";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";
import { sharedPath } from "../../helpers/shared.ts";

const FILE = sharedPath("openapi", "openai.openapi.json");

export const haveDocument = existsSync(FILE);
export const NO_DOCUMENT =
  "The API document is not beside the repository (../shared/openapi): nothing to judge by.";

const schemas = (): JsonObject => {
  const document = JSON.parse(readFileSync(FILE, "utf8")) as { components: { schemas: JsonObject } };
  return document.components.schemas;
};

/** What is wrong with a value by a named schema of the document; empty when nothing is. */
export function judge(name: string, value: Json): string[] {
  all ??= schemas();
  return check(all[name] as JsonObject, value, "$");
}

let all: JsonObject | undefined;

function check(schema: JsonObject, value: Json, path: string): string[] {
  if (typeof schema.$ref === "string")
    return check(all![schema.$ref.split("/").at(-1)!] as JsonObject, value, path);
  if (value === null && schema.nullable === true) return [];
  const faults = [...ofType(schema, value, path), ...ofValue(schema, value, path)];
  for (const part of list(schema.allOf)) faults.push(...check(part, value, path));
  for (const choice of [list(schema.anyOf), list(schema.oneOf)])
    if (choice.length > 0) faults.push(...ofChoice(choice, value, path));
  if (isObject(value)) faults.push(...ofMembers(schema, value, path));
  if (Array.isArray(value) && isObject(schema.items))
    faults.push(
      ...value.flatMap((item, index) => check(schema.items as JsonObject, item, `${path}[${index}]`)),
    );
  return faults;
}

function ofType({ type }: JsonObject, value: Json, path: string): string[] {
  if (type === undefined) return [];
  const types = Array.isArray(type) ? type : [type];
  return types.some((one) => isOfType(one, value)) ? [] : [`${path} is no ${types.join("|")}`];
}

function isOfType(type: Json, value: Json): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

function ofValue(schema: JsonObject, value: Json, path: string): string[] {
  const faults: string[] = [];
  if (Array.isArray(schema.enum) && !schema.enum.includes(value))
    faults.push(`${path} is none of ${schema.enum.join(", ")}`);
  if (schema.const !== undefined && schema.const !== value)
    faults.push(`${path} is not ${String(schema.const)}`);
  if (typeof value === "number" && value < ((schema.minimum as number | undefined) ?? value))
    faults.push(`${path} is too small`);
  if (typeof value === "number" && value > ((schema.maximum as number | undefined) ?? value))
    faults.push(`${path} is too large`);
  if (typeof value === "string" && value.length > ((schema.maxLength as number | undefined) ?? value.length))
    faults.push(`${path} is too long`);
  if (Array.isArray(value) && value.length > ((schema.maxItems as number | undefined) ?? value.length))
    faults.push(`${path} has too many items`);
  if (Array.isArray(value) && value.length < ((schema.minItems as number | undefined) ?? 0))
    faults.push(`${path} has too few items`);
  return faults;
}

function ofChoice(choice: readonly JsonObject[], value: Json, path: string): string[] {
  const attempts = choice.map((schema) => check(schema, value, path));
  const nearest = attempts.reduce((best, attempt) => (attempt.length < best.length ? attempt : best));
  return nearest.map((fault) => `${fault} (nearest of ${choice.length})`);
}

function ofMembers(schema: JsonObject, value: JsonObject, path: string): string[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const faults = required
    .filter((name) => value[String(name)] === undefined)
    .map((name) => `${path} has no ${String(name)}`);
  for (const [name, member] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
    if (value[name] !== undefined)
      faults.push(...check(member as JsonObject, value[name], `${path}.${name}`));
  return faults;
}

function list(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
