/** Encodes tools and tool choice for the formats of OpenAI, which differ in the shapes of a tool and of a chosen tool. */
import type { ChatRequest, Tool, ToolChoice } from "../../core/chat.ts";
import { invalidRequest } from "../../core/error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { PartContext } from "./openai-parts.ts";
import { fieldPath, toolPath } from "./paths.ts";

/** Differences between the formats. */
export interface ToolShapes {
  /** The declaration; `undefined` for a tool that the provider cannot get, which is reported. */
  tool(tool: Tool, context: PartContext): JsonObject | undefined;
  /** `tool_choice` for one tool. @param name the provider's name @param tool its declaration */
  choice(name: string, tool: JsonObject | undefined): JsonObject;
}

/** Returns all tool names of a request: declared, chosen, and called in its history. */
export function toolNames({ tools, toolChoice, turns }: ChatRequest): string[] {
  const names: string[] = [];
  for (const { kind, name } of tools) if (kind !== "foreign") names.push(name);
  if (toolChoice?.type === "tool") names.push(toolChoice.name);
  for (const { blocks } of turns)
    for (const block of blocks) if (block.type === "tool-call") names.push(block.name);
  return names;
}

/**
 * Encodes `tools`, `tool_choice` and `parallel_tool_calls`; none of them without tools, because many servers refuse an
 * empty list.
 * @throws GatewayError if the chosen tool is not declared, or if a web search is the only tool
 */
export function encodeTools(request: ChatRequest, context: PartContext, shapes: ToolShapes): JsonObject {
  const { toolChoice } = request;
  if (context.traits.tools === false) return withoutTools(request, context);
  if (request.tools.length === 0 && !toolChoice) return {};
  const offered = narrow(declared(request.tools, context, shapes), toolChoice, context);
  const tools = offered.map(({ tool }) => tool);
  if (toolChoice?.type === "tool" && !offered.some(({ name }) => name === toolChoice.name))
    throw unknownTool(toolChoice.name, fieldPath(request, "toolChoice"));
  if (tools.length === 0) return {};
  return { tools, ...encodeChoice(request, offered, context, shapes), ...encodeParallel(request, context) };
}

/** The losses of a provider that takes no tools. */
function withoutTools({ tools }: ChatRequest, { reportLoss }: PartContext): JsonObject {
  for (const tool of tools) reportLoss("dropped", toolPath(tool), "the provider accepts no tools");
  return {};
}

interface Offered {
  /** The client's name of the tool. */
  name: string;
  tool: JsonObject;
}

function declared(tools: readonly Tool[], context: PartContext, shapes: ToolShapes): Offered[] {
  const byName = new Map<string, Offered>();
  let search: Tool | undefined;
  for (const [index, tool] of tools.entries()) {
    const encoded = shapes.tool(tool, context);
    if (encoded === undefined && tool.searchesWeb) search = tool;
    if (encoded === undefined) continue;
    const key = tool.kind === "foreign" ? `${index}` : tool.name;
    if (byName.has(key))
      context.reportLoss("dropped", toolPath(tool), "two tools have this name; weir keeps the last one");
    byName.set(key, { name: tool.name, tool: encoded });
  }
  if (byName.size === 0 && search !== undefined)
    throw invalidRequest(
      `${toolPath(search)}: the provider has no web search, and the request declares no other tool.`,
      toolPath(search),
      "unsupported_value",
    );
  return [...byName.values()];
}

/** Selects the allowed tools. If the provider cannot be forced to call a tool by its name, only that tool is offered. */
function narrow(offered: Offered[], choice: ToolChoice | undefined, { traits }: PartContext): Offered[] {
  if (choice?.type === "allowed") return offered.filter(({ name }) => choice.names.includes(name));
  const takesName = traits.forcedToolChoice !== false && traits.namedToolChoice !== false;
  if (choice?.type !== "tool" || takesName) return offered;
  return offered.filter(({ name }) => name === choice.name);
}

function encodeChoice(
  request: ChatRequest,
  offered: readonly Offered[],
  context: PartContext,
  shapes: ToolShapes,
): JsonObject {
  const { toolChoice: choice } = request;
  if (!choice) return {};
  const forced =
    choice.type === "required" || choice.type === "tool" || (choice.type === "allowed" && choice.required);
  if (forced && context.traits.forcedToolChoice === false) {
    context.reportLoss(
      "downgraded",
      fieldPath(request, "toolChoice"),
      "the provider cannot be forced to call a tool",
    );
    return { tool_choice: "auto" };
  }
  // Only that tool is offered.
  if (choice.type === "tool" && context.traits.namedToolChoice === false) return { tool_choice: "required" };
  if (choice.type === "tool") {
    const declaration = offered.find((one) => one.name === choice.name)?.tool;
    return { tool_choice: shapes.choice(context.names.send(choice.name), declaration) };
  }
  if (choice.type === "allowed") return { tool_choice: choice.required ? "required" : "auto" };
  return { tool_choice: choice.type };
}

function unknownTool(name: string, path: string) {
  return invalidRequest(`${path}: the request declares no tool named '${name}'.`, path, "invalid_value");
}

/** Only `false` is sent; `true` is the default of every server. */
function encodeParallel(request: ChatRequest, { traits, facts, reportLoss }: PartContext): JsonObject {
  if (request.parallelToolCalls !== false) return {};
  if (traits.parallelToolCalls !== false && facts?.parallelToolCalls !== false)
    return { parallel_tool_calls: false };
  reportLoss("dropped", fieldPath(request, "parallelToolCalls"), "the provider does not support this field");
  return {};
}
