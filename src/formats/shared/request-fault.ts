/** Errors for wrong members of a request, in the wording of OpenAI. The first one is found along the schema (TypeBox). */
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type GatewayError, invalidRequest } from "../../core/error.ts";
import { limitText } from "../../core/printable.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Misspelling, Vocabulary } from "./vocabulary.ts";

/** Maximum length of a path in an error message. */
const PATH_BYTES = 256;

/** The error for a wrong member. @param path as OpenAI writes it (`messages[0].content`) @param expected what the member must be (`a string`) */
export function fault(path: string, expected: string): GatewayError {
  return invalidRequest(`Invalid '${path}': expected ${expected}.`, path, "invalid_value");
}

/** The error for an absent member. */
export function missing(path: string): GatewayError {
  return invalidRequest(`Missing required parameter: '${path}'.`, path, "missing_required_parameter");
}

/** The error for a member whose name differs from a known one only in case. */
export function misspelled({ path, known }: Misspelling): GatewayError {
  const place = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  const shown = limitText(place.slice(1), PATH_BYTES);
  return invalidRequest(
    `Unknown parameter: '${shown}'. Did you mean '${known}'? Names are case-sensitive.`,
    shown,
    "unknown_parameter",
  );
}

function wrong(path: string, schema: TSchema): GatewayError {
  if (path === "") return invalidRequest("The request body has members of wrong types.");
  return fault(path, describeExpected(schema));
}

/** The shape of the requests of an operation. */
export interface RequestShape {
  schema: TSchema;
  vocabulary: Vocabulary;
  /** The validator of the schema, compiled. */
  isValid(body: Json): boolean;
  /** Such a request in a sentence: `a Responses request`. */
  called: string;
}

/**
 * Validates a parsed request. Only an invalid one is walked along the schema, to name the first fault.
 * @throws GatewayError `invalid-request` with the path of the first fault
 */
export function checkShape(
  body: Json,
  { schema, vocabulary, isValid, called }: RequestShape,
): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const misspelling = vocabulary.findMisspelled(body);
  if (misspelling) throw misspelled(misspelling);
  if (!isValid(body))
    throw firstFault(schema, body, "") ?? invalidRequest(`The request body is not ${called}.`);
}

/**
 * Returns the first fault of `value` against `schema`; `undefined` if it is valid.
 * @param path of the value; empty for the whole body
 */
export function firstFault(schema: TSchema, value: Json, path: string): GatewayError | undefined {
  if (Value.Check(schema, value)) return undefined;
  const bare = withoutNull(schema);
  if (bare.discriminator) return variantFault(bare, value, path);
  const shape = bare.anyOf
    ? ((bare.anyOf as TSchema[]).find((variant) => isKind(variant, value)) ?? bare)
    : bare;
  if (shape.type === "object" && isObject(value)) return memberFault(shape, value, path);
  if (shape.type === "array" && Array.isArray(value)) return itemFault(shape, value, path);
  return wrong(path, bare);
}

function memberFault(schema: TSchema, value: JsonObject, path: string): GatewayError | undefined {
  const required: readonly string[] = schema.required ?? [];
  for (const [name, property] of Object.entries(schema.properties as Record<string, TSchema>)) {
    const member = value[name];
    const memberPath = path === "" ? name : `${path}.${name}`;
    if (member === undefined && !required.includes(name)) continue;
    if (member === undefined) return missing(memberPath);
    const fault = firstFault(property, member, memberPath);
    if (fault) return fault;
  }
  return undefined;
}

function itemFault(schema: TSchema, value: Json[], path: string): GatewayError | undefined {
  if (value.length < (schema.minItems ?? 0)) return wrong(path, schema);
  for (const [index, item] of value.entries()) {
    const fault = firstFault(schema.items as TSchema, item, `${path}[${index}]`);
    if (fault) return fault;
  }
  return undefined;
}

/** Returns the fault of a value against the alternative that its discriminator names. */
function variantFault(schema: TSchema, value: Json, path: string): GatewayError | undefined {
  if (!isObject(value)) return wrong(path, schema);
  const { propertyName } = schema.discriminator as { propertyName: string };
  const word = value[propertyName];
  const wordPath = `${path}.${propertyName}`;
  const variants = schema.anyOf as TSchema[];
  const chosen = variants.find((variant) => isNamed(variant, propertyName, word));
  if (!chosen && word === undefined) return missing(wordPath);
  if (chosen) return memberFault(chosen, value, path);
  return wrong(wordPath, {
    anyOf: variants.map((variant) => variant.properties[propertyName]),
  } as unknown as TSchema);
}

function isNamed(variant: TSchema, propertyName: string, word: Json | undefined): boolean {
  if (word === undefined) return !(variant.required as readonly string[] | undefined)?.includes(propertyName);
  return Value.Check(variant.properties[propertyName], word);
}

function withoutNull(schema: TSchema): TSchema {
  const [first, second] = (schema.anyOf ?? []) as TSchema[];
  return first && second?.type === "null" ? first : schema;
}

function isKind(schema: TSchema, value: Json): boolean {
  if (schema.type === "array") return Array.isArray(value);
  return schema.type === "object" ? isObject(value) : schema.type === typeof value;
}

/** Describes the values that a schema allows. */
function describeExpected(schema: TSchema): string {
  if (schema.const !== undefined) return `'${schema.const}'`;
  if (schema.anyOf) return describeAlternatives(schema.anyOf as TSchema[]);
  switch (schema.type) {
    case "number":
      return `a number from ${schema.minimum} to ${schema.maximum}`;
    case "integer":
      return describeInteger(schema);
    case "string":
      return schema.minLength ? "a non-empty string" : "a string";
    case "boolean":
      return "true or false";
    case "array":
      return schema.minItems ? "a list with at least one item" : "a list";
    default:
      return "an object";
  }
}

function describeInteger({ minimum, maximum }: TSchema): string {
  if (maximum !== undefined) return `an integer from ${minimum} to ${maximum}`;
  return minimum === undefined ? "an integer" : "a positive integer";
}

function describeAlternatives(variants: TSchema[]): string {
  const words = [
    ...new Set(
      variants
        .filter((variant) => variant.type !== "null")
        .map((variant) => describeExpected(withoutNull(variant))),
    ),
  ];
  if (words.every((word) => word.startsWith("'"))) return `one of ${words.join(", ")}`;
  return words.join(" or ");
}
