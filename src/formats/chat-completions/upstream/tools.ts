/** Encodes tools and tool choice (src/formats/README.md#tools). */
import type { ChatRequest, Tool, ToolChoice } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { asFunction } from "../../shared/custom-tool.ts";
import { fieldPath, toolPath } from "../../shared/paths.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";

/** Returns all tool names of a request: declared, chosen, and called in its history. */
export function toolNames({ tools, toolChoice, turns }: ChatRequest): string[] {
  const chosen = toolChoice?.type === "tool" ? [toolChoice.name] : [];
  const called = turns.flatMap((turn) =>
    turn.blocks.flatMap((block) => (block.type === "tool-call" ? [block.name] : [])),
  );
  return [...tools.filter((tool) => tool.kind !== "foreign").map((tool) => tool.name), ...chosen, ...called];
}

/**
 * Encodes `tools`, `tool_choice` and `parallel_tool_calls`; none of them without tools, because many servers refuse an
 * empty list.
 * @throws GatewayError if the chosen tool is not declared, or if a web search is the only tool
 */
export function encodeTools(request: ChatRequest, context: EncodeContext): JsonObject {
  const { toolChoice } = request;
  const offered = narrow(declared(request.tools, context), toolChoice, context);
  const tools = offered.map(({ tool }) => tool);
  if (toolChoice?.type === "tool" && !offered.some(({ name }) => name === toolChoice.name))
    throw unknownTool(toolChoice.name, fieldPath(request, "toolChoice"));
  if (tools.length === 0) return {};
  return { tools, ...encodeChoice(request, offered, context), ...encodeParallel(request, context) };
}

interface Offered {
  /** The client's name of the tool. */
  name: string;
  tool: JsonObject;
}

function declared(tools: readonly Tool[], context: EncodeContext): Offered[] {
  const byName = new Map<string, Offered>();
  let search: Tool | undefined;
  for (const [index, tool] of tools.entries()) {
    const encoded = encodeTool(tool, context);
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

/** Selects the allowed tools. If the provider cannot be forced to call a tool, only the forced tool is offered. */
function narrow(offered: Offered[], choice: ToolChoice | undefined, { traits }: EncodeContext): Offered[] {
  if (choice?.type === "allowed") return offered.filter(({ name }) => choice.names.includes(name));
  if (choice?.type !== "tool" || traits.forcedToolChoice !== false) return offered;
  return offered.filter(({ name }) => name === choice.name);
}

function encodeChoice(request: ChatRequest, offered: readonly Offered[], context: EncodeContext): JsonObject {
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
  if (choice.type === "tool") {
    const name = context.names.send(choice.name);
    const custom = offered.some((one) => one.name === choice.name && one.tool.type === "custom");
    return {
      tool_choice: custom ? { type: "custom", custom: { name } } : { type: "function", function: { name } },
    };
  }
  if (choice.type === "allowed") return { tool_choice: choice.required ? "required" : "auto" };
  return { tool_choice: choice.type };
}

function unknownTool(name: string, path: string) {
  return invalidRequest(`${path}: the request declares no tool named '${name}'.`, path, "invalid_value");
}

/** Only `false` is sent; `true` is the default of every server. */
function encodeParallel(request: ChatRequest, { traits, facts, reportLoss }: EncodeContext): JsonObject {
  if (request.parallelToolCalls !== false) return {};
  if (traits.parallelToolCalls !== false && facts?.parallelToolCalls !== false)
    return { parallel_tool_calls: false };
  reportLoss("dropped", fieldPath(request, "parallelToolCalls"), "the provider does not support this field");
  return {};
}
