/** Fits tools and tool choice of a client of the format to what the host can do. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { FitContext } from "./fit-context.ts";
import { list } from "../../shared/read.ts";

const UNSUPPORTED = "the provider does not support this field";

/** Changes the members in place; their values stay as they are. */
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
