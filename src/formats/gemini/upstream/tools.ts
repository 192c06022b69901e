/** Encodes tools and tool choice (src/formats/README.md#tools). */
import type { ChatRequest, Tool } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { asFunction } from "../../shared/tools.ts";
import { fieldPath, toolPath } from "../../shared/paths.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";
import { parameterMember } from "./schema-doors.ts";

export interface EncodedTools {
  tools: JsonObject[];
  toolConfig: JsonObject;
}

/** @throws GatewayError `invalid-request` if a forced tool is not declared, or no tool remains but a web search */
export function encodeTools(request: ChatRequest, context: EncodeContext): EncodedTools {
  const declared = new Map<string, JsonObject>();
  for (const tool of request.tools) {
    const wire = declarationOf(tool, context);
    if (!wire) continue;
    if (declared.delete(tool.name))
      context.reportLoss("dropped", toolPath(tool), "two tools have this name; weir keeps the last one");
    declared.set(tool.name, wire);
  }
  const own = ownTools(request, declared.size > 0, context);
  if (request.parallelToolCalls === false && declared.size > 0)
    context.reportLoss(
      "dropped",
      fieldPath(request, "parallelToolCalls"),
      "the provider has no equivalent field",
    );
  const tools = [...(declared.size > 0 ? [{ functionDeclarations: [...declared.values()] }] : []), ...own];
  const config = callingConfig(request, declared, context);
  const isMixed = declared.size > 0 && own.length > 0;
  return {
    tools,
    toolConfig: {
      ...(config && { functionCallingConfig: config }),
      ...(isMixed && { includeServerSideToolInvocations: true }),
    },
  };
}

function declarationOf(tool: Tool, context: EncodeContext): JsonObject | undefined {
  if (tool.kind === "foreign" && !tool.parameters) return undefined;
  if (tool.kind === "custom")
    context.reportLoss("converted", toolPath(tool), "sent as a function with one text argument");
  if (tool.strict)
    context.reportLoss("dropped", toolPath(tool, "strict"), "the provider has no equivalent field");
  const { description, parameters } = tool.kind === "custom" ? asFunction(tool) : tool;
  const own = tool.kind === "function" && tool.format === FORMAT ? tool.value : undefined;
  return {
    name: context.names.send(tool.name),
    ...(description && { description }),
    ...parameterMember(parameters, toolPath(tool, "parameters"), context),
    ...own,
  };
}

/** Google's own tools, and a web search of another vendor as Google's. */
function ownTools(request: ChatRequest, hasFunctions: boolean, context: EncodeContext): JsonObject[] {
  const { facts, reportLoss } = context;
  return request.tools.flatMap((tool) => {
    if (tool.kind !== "foreign" || tool.parameters) return [];
    if (hasFunctions && !facts.combines) {
      reportLoss("dropped", toolPath(tool), "the model does not take it together with functions");
      return [];
    }
    if (tool.format === FORMAT && tool.value) return [tool.value];
    if (tool.searchesWeb && !hasFunctions) {
      reportLoss("converted", toolPath(tool), "sent as the web search of the provider");
      return [{ googleSearch: {} }];
    }
    reportLoss("dropped", toolPath(tool), "the provider cannot run a server tool of another vendor");
    return [];
  });
}

function callingConfig(
  request: ChatRequest,
  declared: ReadonlyMap<string, JsonObject>,
  { names }: EncodeContext,
): JsonObject | undefined {
  const { toolChoice: choice } = request;
  if (!choice || choice.type === "auto") return undefined;
  const path = fieldPath(request, "toolChoice");
  if (choice.type === "tool" && !declared.has(choice.name))
    throw invalidRequest(
      `${path}: the request declares no tool named '${choice.name}'.`,
      path,
      "invalid_value",
    );
  if (declared.size === 0) {
    if (choice.type === "required")
      throw invalidRequest(
        `${path}: a tool is forced, but the request declares none.`,
        path,
        "invalid_value",
      );
    return undefined;
  }
  switch (choice.type) {
    case "none":
      return { mode: "NONE" };
    case "required":
      return { mode: "ANY" };
    case "tool":
      return { mode: "ANY", allowedFunctionNames: [names.send(choice.name)] };
    case "allowed": {
      const allowed = choice.names.filter((name) => declared.has(name)).map((name) => names.send(name));
      // `AUTO` takes no names.
      return { mode: choice.required ? "ANY" : "VALIDATED", allowedFunctionNames: allowed };
    }
  }
}
