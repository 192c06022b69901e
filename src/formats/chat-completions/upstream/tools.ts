/** Encodes tools and tool choice (src/formats/README.md#tools). */
import type { ChatRequest, Tool } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { asFunction } from "../../shared/tools.ts";
import { encodeTools as encodeOffered, type ToolShapes } from "../../shared/openai-tools.ts";
import { toolPath } from "../../shared/paths.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";

/** @throws GatewayError if the chosen tool is not declared, or if a web search is the only tool */
export function encodeTools(request: ChatRequest, context: EncodeContext): JsonObject {
  return encodeOffered(request, context, SHAPES);
}

const SHAPES: ToolShapes = {
  tool: encodeTool,
  choice: (name, tool) =>
    tool?.type === "custom" ? { type: "custom", custom: { name } } : { type: "function", function: { name } },
};

function encodeTool(tool: Tool, context: EncodeContext): JsonObject | undefined {
  if (tool.kind === "function") return functionTool(tool, context);
  if (tool.kind === "custom") return customTool(tool, context);
  if (tool.format === FORMAT) return tool.value;
  // A typed tool of another format with documented arguments is sent as a function.
  if (tool.parameters) return functionTool(tool, context);
  context.reportLoss("dropped", toolPath(tool), "the provider cannot run a server tool of another vendor");
  return undefined;
}

function functionTool(tool: Tool, { names, traits, reportLoss }: EncodeContext): JsonObject {
  const takesStrict = traits.strictTools !== false;
  if (tool.strict && !takesStrict)
    reportLoss("dropped", toolPath(tool, "strict"), "the provider does not support this field");
  return {
    type: "function",
    function: {
      name: names.send(tool.name),
      ...(tool.description !== undefined && { description: tool.description }),
      ...(tool.parameters && { parameters: tool.parameters }),
      ...(tool.strict !== undefined && takesStrict && { strict: tool.strict }),
      ...(tool.kind === "function" && tool.format === FORMAT && tool.value),
    },
  };
}

/** Sends a custom tool unchanged if the model supports it, else as a function with one text argument. */
function customTool(tool: Tool, { names, facts, reportLoss }: EncodeContext): JsonObject {
  const name = names.send(tool.name);
  const described = tool.description !== undefined ? { description: tool.description } : {};
  const own = tool.format === FORMAT ? tool.value : undefined;
  const format = tool.grammar ? { format: { type: "grammar", grammar: tool.grammar } } : {};
  if (facts?.customTools) return { type: "custom", custom: { name, ...described, ...format, ...own } };
  reportLoss("converted", toolPath(tool), "sent as a function with one text argument");
  return { type: "function", function: { name, ...asFunction(tool) } };
}
