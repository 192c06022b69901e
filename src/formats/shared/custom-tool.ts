/** A custom tool, whose input is text, as a function for providers without such tools. */
import type { Tool } from "../../core/chat.ts";
import type { JsonObject } from "../../core/json.ts";

const PARAMETERS: JsonObject = {
  type: "object",
  properties: { input: { type: "string", description: "The whole input of the tool, as plain text." } },
  required: ["input"],
};

/** Returns the members of a function with one text argument. Its description has the grammar, which the provider does not enforce. */
export function asFunction({ description, grammar }: Tool): { description?: string; parameters: JsonObject } {
  const note = grammar && `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`;
  const text = [description, note].filter(Boolean).join("\n\n");
  return { ...(text !== "" && { description: text }), parameters: PARAMETERS };
}
