/** Decodes tools and tool choice. */
import type { Tool, ToolChoice } from "../../../core/chat.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { FORMAT } from "../own-fields.ts";
import { decodeCache } from "../../shared/prompt-cache.ts";

/** Decodes `tools`, then the legacy `functions`. */
export function decodeTools(body: JsonObject): Tool[] {
  const tools = Array.isArray(body.tools) ? body.tools.filter(isObject) : [];
  const functions = Array.isArray(body.functions) ? body.functions.filter(isObject) : [];
  return [
    ...tools.map((tool, index) => decodeTool(tool, `tools[${index}]`)),
    ...functions.map((declaration, index) => functionTool(declaration, `functions[${index}]`)),
  ];
}

function decodeTool(tool: JsonObject, path: string): Tool {
  if ((tool.type ?? "function") === "function" && isObject(tool.function))
    return { ...functionTool(tool.function, `${path}.function`), path, ...decodeCache(tool) };
  if (tool.type === "custom" && isObject(tool.custom))
    return { ...customTool(tool.custom, `${path}.custom`), path, ...decodeCache(tool) };
  return { kind: "foreign", name: String(tool.name ?? tool.type), path, format: FORMAT, value: tool };
}

/** @param path of the declaration, which `tools` puts into a member and `functions` does not */
function functionTool(declaration: JsonObject, path: string): Tool {
  const { name, description, parameters, strict, ...others } = declaration;
  return {
    kind: "function",
    name: String(name),
    ...(typeof description === "string" && { description }),
    ...(isObject(parameters) && { parameters }),
    ...(typeof strict === "boolean" && { strict }),
    path,
    memberPaths: { parameters: `${path}.parameters`, strict: `${path}.strict` },
    ...ownMembers(others),
  };
}

function customTool(declaration: JsonObject, path: string): Tool {
  const { name, description, ...others } = declaration;
  const grammar = findGrammar(others.format);
  return {
    kind: "custom",
    name: String(name),
    ...(typeof description === "string" && { description }),
    ...(grammar && { grammar }),
    memberPaths: { format: `${path}.format` },
    ...ownMembers(others),
  };
}

/** Finds the grammar in `format`: `{grammar: {…}}`, or the flat form of the Responses API. */
function findGrammar(value: Json | undefined): { syntax: string; definition: string } | undefined {
  if (!isObject(value)) return undefined;
  if (typeof value.definition === "string")
    return {
      syntax: typeof value.syntax === "string" ? value.syntax : "formal",
      definition: value.definition,
    };
  return findGrammar(value.grammar);
}

function ownMembers(others: JsonObject): Pick<Tool, "format" | "value"> {
  return Object.keys(others).length > 0 ? { format: FORMAT, value: others } : {};
}

/** Values of `tool_choice` and `function_call`; `any` is Mistral's name for `required`. */
const CHOICES: Record<string, ToolChoice> = {
  auto: { type: "auto" },
  none: { type: "none" },
  required: { type: "required" },
  any: { type: "required" },
};

/** Decodes the choice; `undefined` if it is absent or of an undocumented type. */
export function decodeToolChoice(body: JsonObject): ToolChoice | undefined {
  const choice = body.tool_choice ?? body.function_call;
  if (typeof choice === "string") return getOwn(CHOICES, choice);
  if (!isObject(choice)) return undefined;
  if (isObject(choice.allowed_tools)) return allowedTools(choice.allowed_tools);
  const name = nameOf(choice);
  return name === undefined ? undefined : { type: "tool", name };
}

function allowedTools(allowed: JsonObject): ToolChoice {
  const names = Array.isArray(allowed.tools) ? allowed.tools.map(nameOf) : [];
  return {
    type: "allowed",
    names: names.filter((name) => name !== undefined),
    required: allowed.mode === "required",
  };
}

/** `{function: {name}}`, `{custom: {name}}`, and the legacy `{name}`. */
function nameOf(choice: Json): string | undefined {
  if (!isObject(choice)) return undefined;
  const holder = [choice.function, choice.custom, choice].find(
    (value) => isObject(value) && typeof value.name === "string",
  );
  return isObject(holder) ? (holder.name as string) : undefined;
}
