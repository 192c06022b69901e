/**
 * Generates the validators of requests from their schemas (TypeBox). Macros call it, so the binary contains its result:
 * generating a validator at each start took longer than loading all other modules.
 */
import type { TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";

/** The body of a function that returns the validator, as JavaScript. */
export function validatorCode(schema: TSchema): string {
  return TypeCompiler.Code(schema, { language: "javascript" });
}
