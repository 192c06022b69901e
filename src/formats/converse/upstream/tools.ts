/** Encodes tools and tool choice as `toolConfig` (src/formats/README.md#tools). */
import type { ChatRequest, Tool } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { flattenRoot, StrictBudget } from "../../shared/claude-schema.ts";
import { asFunction, isForced, MUST_CALL } from "../../shared/tools.ts";
import { fieldPath, toolPath } from "../../shared/paths.ts";
import { type EncodeContext, FORMAT } from "./context.ts";
import { addMarked } from "./caching.ts";

export interface EncodedTools {
  /** Elements of `toolConfig.tools`: tools and cache points. */
  tools: JsonObject[];
  choice?: JsonObject;
  /** An instruction for the system prompt if no field can express the choice. */
  instruction?: string;
}

interface Offered {
  /** The client's name of the tool. */
  name: string;
  tool: Tool;
  wire: JsonObject;
}

const DO_NOT_CALL = "Do not call any tools.";

/** @throws GatewayError `invalid-request` if a forced tool is not declared, or if a web search is the only tool */
export function encodeTools(request: ChatRequest, context: EncodeContext): EncodedTools {
  const { toolChoice } = request;
  const path = fieldPath(request, "toolChoice");
  const declared = declare(request.tools, context);
  const called = calledNames(request);
  if (toolChoice?.type === "none") {
    if (declared.length > 0)
      context.reportLoss(
        "downgraded",
        path,
        "the provider has no such choice; weir declares only tools that earlier turns called",
      );
    return keepCalled(called, declared, context);
  }
  const offered =
    toolChoice?.type === "allowed"
      ? declared.filter(({ name }) => toolChoice.names.includes(name))
      : declared;
  if (offered.length > 0) return choose(request, offered, context);
  if (isForced(request))
    throw invalidRequest(`${path}: a tool is forced, but the request declares none.`, path, "invalid_value");
  if (called.length > 0)
    context.reportLoss(
      "synthesized",
      fieldPath(request, "turns"),
      "weir declared the tools of earlier calls, because the provider refuses calls of unknown tools",
    );
  return keepCalled(called, declared, context);
}

/** The names of the tools that earlier turns called, once each. */
function calledNames({ turns }: ChatRequest): string[] {
  const calls = turns.flatMap(({ role, blocks }) => (role === "assistant" ? blocks : []));
  return [...new Set(calls.flatMap((block) => (block.type === "tool-call" ? [block.name] : [])))];
}

/** The provider refuses a history with calls unless the request declares tools: it gets those of the history and no others. */
function keepCalled(
  called: readonly string[],
  declared: readonly Offered[],
  context: EncodeContext,
): EncodedTools {
  if (called.length === 0) return { tools: [] };
  const tools = called.map((name) => declared.find((one) => one.name === name) ?? bare(name, context));
  return { tools: elementsOf(tools, context), instruction: DO_NOT_CALL };
}

function bare(name: string, { names }: EncodeContext): Offered {
  const inputSchema = { json: { type: "object", properties: {} } };
  return {
    name,
    tool: { kind: "function", name },
    wire: { toolSpec: { name: names.send(name), inputSchema } },
  };
}

function declare(tools: readonly Tool[], context: EncodeContext): Offered[] {
  const strict = context.facts.claude && new StrictBudget({ ...context, facts: context.facts.claude });
  const offered = new Map<string, Offered>();
  let search: Tool | undefined;
  for (const tool of tools) {
    const wire = encodeTool(tool, strict, context);
    if (!wire) {
      if (tool.searchesWeb) search = tool;
      continue;
    }
    const key = tool.kind === "foreign" ? JSON.stringify(wire) : tool.name;
    if (offered.delete(key))
      context.reportLoss("dropped", toolPath(tool), "two tools have this name; weir keeps the last one");
    offered.set(key, { name: tool.name, tool, wire });
  }
  if (offered.size === 0 && search)
    throw invalidRequest(
      `${toolPath(search)}: the provider has no web search, and the request declares no other tool.`,
      toolPath(search),
      "unsupported_value",
    );
  return [...offered.values()];
}

function encodeTool(
  tool: Tool,
  strict: StrictBudget | undefined,
  context: EncodeContext,
): JsonObject | undefined {
  if (tool.kind === "foreign") {
    if (tool.format === FORMAT && tool.value) return tool.value;
    context.reportLoss("dropped", toolPath(tool));
    return undefined;
  }
  const { description, parameters } = tool.kind === "custom" ? asFunctionTool(tool, context) : tool;
  const { schema, changed } = flattenRoot(parameters ?? { properties: {} });
  if (changed)
    context.reportLoss(
      "converted",
      toolPath(tool, "parameters"),
      "weir merged the alternatives at the root of the schema",
    );
  const enforced = tool.strict === true ? strictSchema(schema, tool, strict, context) : undefined;
  return {
    toolSpec: {
      name: context.names.send(tool.name),
      ...(description && { description }),
      inputSchema: { json: enforced ?? schema },
      ...(enforced && { strict: true }),
    },
  };
}

/** The schema in the form that the provider enforces; `undefined` if it enforces none. */
function strictSchema(
  schema: JsonObject,
  tool: Tool,
  strict: StrictBudget | undefined,
  { facts, reportLoss }: EncodeContext,
): JsonObject | undefined {
  if (strict) return strict.admit(schema, tool);
  if (facts.schemas) return schema;
  reportLoss("dropped", toolPath(tool, "strict"), "the schema is not enforced");
  return undefined;
}

/** Declares a custom tool as a function with one text argument; a grammar can only be described. */
function asFunctionTool(tool: Tool, { reportLoss }: EncodeContext): Pick<Tool, "description" | "parameters"> {
  if (tool.grammar)
    reportLoss("downgraded", toolPath(tool, "format"), "the grammar is described, not enforced");
  return asFunction(tool);
}

function choose(request: ChatRequest, offered: readonly Offered[], context: EncodeContext): EncodedTools {
  const { toolChoice } = request;
  const path = fieldPath(request, "toolChoice");
  if (request.parallelToolCalls === false)
    context.reportLoss(
      "dropped",
      fieldPath(request, "parallelToolCalls"),
      "the provider does not support this field",
    );
  if (!isForced(request)) return { tools: elementsOf(offered, context) };
  const named =
    toolChoice?.type === "tool" ? offered.find(({ name }) => name === toolChoice.name) : undefined;
  if (toolChoice?.type === "tool" && !named)
    throw invalidRequest(
      `${path}: the request declares no tool named '${toolChoice.name}'.`,
      path,
      "invalid_value",
    );
  if (context.facts.forcedTools && context.traits.forcedToolChoice !== false) {
    const choice = named ? { tool: { name: context.names.send(named.name) } } : { any: {} };
    return { tools: elementsOf(offered, context), choice };
  }
  context.reportLoss(
    "downgraded",
    path,
    "requested in the system prompt; the model cannot be forced to call a tool",
  );
  return { tools: elementsOf(named ? [named] : offered, context), instruction: MUST_CALL };
}

/** The tools, each with the cache point behind it as an element of its own. */
function elementsOf(offered: readonly Offered[], context: EncodeContext): JsonObject[] {
  const elements: JsonObject[] = [];
  for (const { tool, wire } of offered) addMarked(elements, [wire], tool, "tools", toolPath(tool), context);
  return elements;
}
