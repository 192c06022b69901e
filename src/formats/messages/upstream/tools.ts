/** Encodes tools and tool choice (src/formats/README.md#tools). */
import type { ChatRequest, Tool } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { ToolNames } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { flattenRoot, StrictBudget } from "../../shared/claude-schema.ts";
import { asFunction, isForced, MUST_CALL } from "../../shared/tools.ts";
import { fieldPath, toolPath } from "../../shared/paths.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";

export interface EncodedTools {
  tools: JsonObject[];
  choice?: JsonObject;
  /** A instruction for the system prompt if no field can express the choice. */
  instruction?: string;
}

/** @throws GatewayError `invalid-request` if a forced tool is not declared */
export function encodeTools(request: ChatRequest, names: ToolNames, context: EncodeContext): EncodedTools {
  const allowed = request.toolChoice?.type === "allowed" ? new Set(request.toolChoice.names) : undefined;
  const strict = new StrictBudget(context);
  const tools = new Map<string, { name: string; wire: JsonObject }>();
  for (const tool of request.tools) {
    if (allowed && !allowed.has(tool.name)) {
      // A function that is not allowed makes no difference; a tool of the vendor works beside those that are.
      if (tool.kind === "foreign" && tool.format !== FORMAT) context.reportLoss("dropped", toolPath(tool));
      continue;
    }
    const wire = encodeTool(tool, names, strict, context);
    if (!wire) continue;
    if (tools.delete(tool.name))
      context.reportLoss("dropped", toolPath(tool), "two tools have this name; weir keeps the last one");
    tools.set(tool.name, { name: tool.name, wire });
  }
  return choose(request, [...tools.values()], names, context);
}

function encodeTool(
  tool: Tool,
  names: ToolNames,
  strict: StrictBudget,
  context: EncodeContext,
): JsonObject | undefined {
  const own = tool.format === FORMAT ? tool.value : undefined;
  if (tool.kind === "foreign") {
    if (!own) context.reportLoss("dropped", toolPath(tool));
    return own && withCache({ ...own }, tool);
  }
  // A typed tool of this format is sent unchanged; its canonical form is for other formats.
  if (own && own.type !== undefined) return withCache({ ...own }, tool);
  const declared = tool.kind === "custom" ? asFunctionTool(tool, context) : tool;
  const flat = flattenRoot(declared.parameters ?? { type: "object", properties: {} });
  if (flat.changed)
    context.reportLoss(
      "converted",
      toolPath(tool, "parameters"),
      "weir merged the alternatives at the root of the schema",
    );
  const schema = tool.strict ? strict.admit(flat.schema, tool) : undefined;
  return withCache(
    {
      name: names.send(tool.name),
      ...(declared.description && { description: declared.description }),
      input_schema: schema ?? flat.schema,
      ...(schema && { strict: true }),
      ...own,
    },
    tool,
  );
}

/** Anthropic refuses a cache mark on a tool that is not loaded yet. */
function withCache(wire: JsonObject, tool: Tool): JsonObject {
  if (tool.cache && wire.defer_loading !== true) wire.cache_control = { type: "ephemeral", ...tool.cache };
  else delete wire.cache_control;
  return wire;
}

/** Declares a custom tool as a function with one text argument; a grammar can only be described. */
function asFunctionTool(tool: Tool, { reportLoss }: EncodeContext): Tool {
  if (tool.grammar)
    reportLoss("downgraded", toolPath(tool, "format"), "the grammar is described, not enforced");
  return { ...tool, ...asFunction(tool) };
}

function choose(
  request: ChatRequest,
  tools: { name: string; wire: JsonObject }[],
  names: ToolNames,
  { facts, traits, reportLoss }: EncodeContext,
): EncodedTools {
  const wires = tools.map(({ wire }) => wire);
  const { toolChoice } = request;
  const path = fieldPath(request, "toolChoice");
  const forced = isForced(request);
  if (wires.length === 0) {
    if (forced)
      throw invalidRequest(
        `${path}: a tool is forced, but the request declares none.`,
        path,
        "invalid_value",
      );
    return { tools: [] };
  }
  const single: JsonObject = request.parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  if (toolChoice?.type === "none") return { tools: wires, choice: { type: "none" } };
  if (!forced) {
    const choice = request.parallelToolCalls === false ? { type: "auto", ...single } : undefined;
    return { tools: wires, choice };
  }
  const named = toolChoice?.type === "tool" ? tools.find(({ name }) => name === toolChoice.name) : undefined;
  if (toolChoice?.type === "tool" && !named)
    throw invalidRequest(
      `${path}: the request declares no tool named '${toolChoice.name}'.`,
      path,
      "invalid_value",
    );
  if (facts.forcedTools && traits.forcedToolChoice !== false) {
    const choice =
      toolChoice?.type === "tool" ? { type: "tool", name: names.send(toolChoice.name) } : { type: "any" };
    return { tools: wires, choice: { ...choice, ...single } };
  }
  reportLoss("downgraded", path, "requested in the system prompt; the model cannot be forced to call a tool");
  return { tools: named ? [named.wire] : wires, choice: { type: "auto", ...single }, instruction: MUST_CALL };
}
