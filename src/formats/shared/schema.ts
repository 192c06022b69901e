/**
 * Parts of the schemas of wire formats (TypeBox). Every object is open to unknown members, because new vendor fields, content
 * types and tool types must pass.
 */
import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { JsonObject } from "../../core/json.ts";
import { TypeCompiler } from "@sinclair/typebox/compiler";

/** An object with these members and any others. */
export function open(properties: TProperties, options: object = {}) {
  return Type.Object(properties, { additionalProperties: true, ...options });
}

/** Any object. */
export const anything = (options: object = {}) => open({}, options);

export function nullable(schema: TSchema, options: object = {}) {
  return Type.Union([schema, Type.Null()], options);
}

/** An optional field of a request. `null` counts as absent, because users of the SDKs send it. */
export function optional(schema: TSchema) {
  return Type.Optional(nullable(schema));
}

/** Alternatives, distinguished by a string member; an alternative whose member is a pattern takes all other values. */
export function oneOf(propertyName: string, variants: TSchema[], options: object = {}) {
  return Type.Union(variants, { discriminator: { propertyName }, ...options });
}

/** Any value of a discriminating member but one. */
export const otherThan = (word: string) => Type.String({ pattern: `^(?!${word}$)` });

/** A number of tokens. */
export const count = (options: object = {}) => Type.Integer({ minimum: 0, ...options });

/** The schema as JSON, without the symbols of TypeBox. */
export function toJson(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}

/**
 * The body of a function that returns the validator of a schema, as JavaScript. Macros call it, so that the binary contains its
 * result: generating a validator at each start took longer than loading all other modules.
 */
export function validatorCode(schema: TSchema): string {
  return TypeCompiler.Code(schema, { language: "javascript" });
}
