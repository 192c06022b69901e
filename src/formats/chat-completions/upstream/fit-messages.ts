/** Fits the messages of a client of the format to what the host can do. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { FitContext } from "./fit-context.ts";
import { textPart } from "./content.ts";
import { placeSystem, withInstruction } from "./messages.ts";
import { toolsAsText } from "./tools-as-text.ts";

/**
 * @param instruction a sentence of weir for the system prompt
 * @returns the same list if nothing changes
 */
export function fitMessages(
  given: readonly Json[],
  instruction: string | undefined,
  context: FitContext,
): Json[] {
  const { traits } = context.target;
  const before = given.filter(isObject);
  let messages = before.map((message, at) => fitMessage(message, `messages[${at}]`, context));
  if (traits.tools === false)
    messages = toolsAsText(messages, (_message, at) =>
      context.reportLoss("converted", `messages[${at}]`, "calls and results of tools were sent as text"),
    );
  messages = withInstruction(messages, instruction);
  if (messages.some(({ role }, at) => role === "system" && at > 0)) messages = placeSystem(messages, traits);
  const isSame = messages.length === given.length && messages.every((message, at) => message === given[at]);
  return isSame ? (given as Json[]) : messages;
}

/** @param path of the message @returns the same message if nothing changes */
function fitMessage(
  message: JsonObject,
  path: string,
  { target: { traits }, reportLoss }: FitContext,
): JsonObject {
  let fitted = message;
  if (traits.developerRole === false && message.role === "developer") fitted = { ...fitted, role: "system" };
  if (traits.images === false && Array.isArray(message.content) && message.content.some(isImage))
    fitted = {
      ...fitted,
      content: message.content.map((part, at) => {
        if (!isImage(part)) return part;
        reportLoss("dropped", `${path}.content[${at}]`, "the provider does not accept images");
        return textPart("[image omitted]");
      }),
    };
  if (traits.reasoningReplay === "forbidden" && message.reasoning_content != null) {
    const { reasoning_content: _, ...rest } = fitted;
    fitted = rest;
    reportLoss("dropped", `${path}.reasoning_content`, "the provider takes back no reasoning");
  }
  return fitted;
}

function isImage(part: Json): boolean {
  return isObject(part) && part.type === "image_url";
}
