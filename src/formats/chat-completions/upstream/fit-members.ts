/** Fits the messages and tools of a client of the format to what the host can do. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { textPart } from "./content.ts";
import { placeSystem, withInstruction } from "./messages.ts";
import { toolsAsText } from "./tools-as-text.ts";
import { list } from "../../shared/read.ts";
import type { CodecContext } from "../../../core/context.ts";

/** The facts besides the request on which its fitting depends. */
export type FitContext = Pick<CodecContext, "model" | "sameFormat" | "target" | "reportLoss">;

/**
 * Fits the messages.
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

/** The note of a field that is left out. */
export const UNSUPPORTED = "the provider does not support this field";

/** Fits tools and tool choice. Changes the members in place; their values stay as they are. */
export function fitTools(body: JsonObject, context: FitContext): void {
  const { target, reportLoss } = context;
  const { traits } = target;
  if (traits.tools === false) {
    if (list(body.tools).length > 0) reportLoss("dropped", "tools", "the provider accepts no tools");
    for (const name of ["tools", "tool_choice", "parallel_tool_calls"]) delete body[name];
    return;
  }
  fitParallel(body, context);
  if (traits.strictTools === false) fitStrict(body, context);
  fitChoice(body, context);
}

function fitParallel(body: JsonObject, { target: { traits }, reportLoss }: FitContext): void {
  if (traits.parallelToolCalls !== false || body.parallel_tool_calls === undefined) return;
  // True is what every host does without the field.
  if (body.parallel_tool_calls === false) reportLoss("dropped", "parallel_tool_calls", UNSUPPORTED);
  delete body.parallel_tool_calls;
}

function fitStrict(body: JsonObject, { reportLoss }: FitContext): void {
  const tools = list(body.tools);
  if (!tools.some(hasStrict)) return;
  body.tools = tools.map((tool, at): Json => {
    if (!hasStrict(tool)) return tool;
    const { strict, ...rest } = tool.function;
    if (strict === true) reportLoss("dropped", `tools[${at}].function.strict`, UNSUPPORTED);
    return { ...tool, function: rest };
  });
}

function hasStrict(tool: Json): tool is JsonObject & { function: JsonObject } {
  return isObject(tool) && isObject(tool.function) && tool.function.strict !== undefined;
}

/** A named tool is offered alone where it cannot be named; where no call can be forced, the model decides. */
function fitChoice(body: JsonObject, { target: { traits }, reportLoss }: FitContext): void {
  const { tool_choice: choice } = body;
  const isNamed = isObject(choice) && choice.type !== "allowed_tools";
  const isForced = isNamed || choice === "required";
  const cannotForce = isForced && traits.forcedToolChoice === false;
  if (!cannotForce && !(isNamed && traits.namedToolChoice === false)) return;
  if (isNamed) body.tools = list(body.tools).filter((tool) => nameIn(tool) === nameIn(choice));
  body.tool_choice = cannotForce ? "auto" : "required";
  if (cannotForce) reportLoss("downgraded", "tool_choice", "the provider cannot be forced to call a tool");
}

function nameIn(tool: Json): Json | undefined {
  if (!isObject(tool)) return undefined;
  const body = isObject(tool.function) ? tool.function : tool.custom;
  return isObject(body) ? body.name : undefined;
}
