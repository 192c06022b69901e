/** Tools that not every provider has: those that a vendor runs itself, those whose input is text, and forced ones. */
import type { ChatRequest, Tool } from "../../core/chat.ts";
import { invalidRequest } from "../../core/error.ts";
import type { JsonObject } from "../../core/json.ts";

/**
 * weir leaves hosted tools out beside other tools, and refuses the request if they are all that the model could use.
 * @param typeOf the vendor's name of a kind of tools @param forced the tool that the client demands, if it is hosted
 * @param isEssential whether a request with a tool of that type makes no sense elsewhere
 * @throws GatewayError `invalid-request`, code `unsupported_tool`
 */
export function refuseHosted(
  tools: readonly Tool[],
  typeOf: (tool: Tool) => string,
  forced: Tool | undefined,
  isEssential: (type: string) => boolean,
): void {
  const hosted = tools.filter(({ kind }) => kind === "foreign");
  const refused =
    hosted.find((tool) => isEssential(typeOf(tool))) ??
    forced ??
    (hosted.length === tools.length ? hosted[0] : undefined);
  if (refused)
    throw invalidRequest(
      `${refused.path}: the provider has no tool of type ${typeOf(refused).slice(0, 64)}; remove it or choose another model.`,
      refused.path,
      "unsupported_tool",
    );
}

/** For the system prompt of models that no field can force. */
export const MUST_CALL = "You must call one of the tools.";

/** Whether the client forces a tool call. */
export function isForced({ toolChoice }: ChatRequest): boolean {
  switch (toolChoice?.type) {
    case "required":
    case "tool":
      return true;
    case "allowed":
      return toolChoice.required;
    default:
      return false;
  }
}

const PARAMETERS: JsonObject = {
  type: "object",
  properties: { input: { type: "string", description: "The whole input of the tool, as plain text." } },
  required: ["input"],
};

/**
 * Returns a custom tool, whose input is text, as the members of a function with one text argument. Its description has the
 * grammar, which the provider does not enforce.
 */
export function asFunction({ description, grammar }: Tool): { description?: string; parameters: JsonObject } {
  const note = grammar && `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`;
  const text = [description, note].filter(Boolean).join("\n\n");
  return { ...(text !== "" && { description: text }), parameters: PARAMETERS };
}
