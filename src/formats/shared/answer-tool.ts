/** A structured answer through a tool or a sentence, for models that enforce no schema (src/formats/README.md#structured-answers). */
import type { AnswerFormat, ChatRequest } from "../../core/chat.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Traits } from "../../core/provider.ts";

export type JsonSchema = AnswerFormat & { type: "json-schema" };

/** Name of the tool whose input is the answer. */
export const RESPOND = "respond";
export const RESPOND_DESCRIPTION = "Gives the final answer. Its input is the answer.";
/** For the system prompt, if the model cannot be forced to call the tool. */
export const RESPOND_ONLY = `Give your final answer by calling the tool ${RESPOND}, and write no other text.`;
/** For the system prompt, if any object will do. */
export const ANY_OBJECT = "Respond with one JSON object only.";

/** For the system prompt, if there is no tool either. */
export function followSchema(format: JsonSchema): string {
  return `Respond with one JSON object only, which follows this JSON schema:\n${JSON.stringify(describedSchema(format))}`;
}

/** The schema with the description of the format, for providers that have no other place for it. */
export function describedSchema({ schema, description }: JsonSchema): JsonObject {
  if (description === undefined || schema.description === description) return schema;
  const own = typeof schema.description === "string" ? `\n\n${schema.description}` : "";
  return { ...schema, description: description + own };
}

/**
 * Chooses the native form if model, provider and schema allow it, and never a tool whose name the client uses.
 * @param isNative whether the model enforces the schema
 */
export function chooseMode(
  request: ChatRequest,
  { schema }: JsonSchema,
  isNative: boolean,
  traits: Traits,
): "native" | "tool" | "prompt" {
  const trait = traits.jsonSchema ?? "native";
  if (trait === "native" && isNative) return "native";
  const isTaken = request.tools.some(({ name }) => name === RESPOND);
  return trait !== "native" || isTaken || schema.type === "array" ? "prompt" : "tool";
}
