/** Encodes tools and tool choice (src/formats/README.md#tools). */
import type { ChatRequest, Tool } from "../../../core/chat.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { asFunction } from "../../shared/tools.ts";
import { encodeTools as encodeOffered, type ToolShapes } from "../../shared/openai-tools.ts";
import { toolPath } from "../../shared/paths.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";
import type { CodecTarget } from "../../../core/context.ts";
import { list } from "../../shared/read.ts";

/** @throws GatewayError if the chosen tool is not declared, or if a web search is the only tool */
export function encodeTools(request: ChatRequest, context: EncodeContext): JsonObject {
  return encodeOffered(request, context, SHAPES);
}

const SHAPES: ToolShapes = {
  tool: encodeTool,
  choice: (name, tool) => ({ type: tool?.type === "custom" ? "custom" : "function", name }),
};

function encodeTool(tool: Tool, context: EncodeContext): JsonObject | undefined {
  if (tool.kind === "custom" && takesCustomTools(context)) return customTool(tool, context);
  if (tool.kind === "custom") return wrappedTool(tool, context);
  if (tool.kind === "foreign" && tool.format === FORMAT) return tool.value;
  // A typed tool of another format with documented arguments is sent as a function.
  if (tool.kind === "function" || tool.parameters) return functionTool(tool, context);
  context.reportLoss("dropped", toolPath(tool), "the provider cannot run a server tool of another vendor");
  return undefined;
}

/** Whether a custom tool, and calls of it, go out as such. */
export function takesCustomTools({ facts, traits }: EncodeContext): boolean {
  return traits.customTools !== false && (facts?.customTools ?? true);
}

/** `strict` is always sent: on this endpoint a tool without it is strict. */
function functionTool(tool: Tool, { names, traits, reportLoss }: EncodeContext): JsonObject {
  const takesStrict = traits.strictTools !== false;
  if (tool.strict && !takesStrict)
    reportLoss("dropped", toolPath(tool, "strict"), "the provider does not support this field");
  return {
    type: "function",
    name: names.send(tool.name),
    ...(tool.description !== undefined && { description: tool.description }),
    parameters: tool.parameters ?? { type: "object", properties: {} },
    ...(takesStrict && { strict: tool.strict ?? false }),
  };
}

function customTool(tool: Tool, { names }: EncodeContext): JsonObject {
  const { grammar } = tool;
  return {
    type: "custom",
    name: names.send(tool.name),
    ...(tool.description !== undefined && { description: tool.description }),
    ...(grammar && { format: { type: "grammar", ...grammar } }),
  };
}

/** A custom tool as a function with one text argument. */
function wrappedTool(tool: Tool, { names, traits, reportLoss }: EncodeContext): JsonObject {
  reportLoss("converted", toolPath(tool), "sent as a function with one text argument");
  const strict = traits.strictTools === false ? {} : { strict: false };
  return { type: "function", name: names.send(tool.name), ...asFunction(tool), ...strict };
}

/** Whether a host cannot take a client's own request: it has tools with free-form input or namespaces, and the host takes neither. */
export function mustTranslate({ traits }: CodecTarget, body: () => JsonObject): boolean {
  return traits.customTools === false && list(body().tools).some(isSpecial);
}

function isSpecial(tool: Json): boolean {
  return isObject(tool) && (tool.type === "custom" || tool.type === "namespace");
}
