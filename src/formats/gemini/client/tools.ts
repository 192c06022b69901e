/** Decodes tools and the choice among them. */
import type { Tool, ToolChoice } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { refuseHosted } from "../../shared/tools.ts";
import { list, text } from "../../shared/read.ts";
import { FORMAT } from "../own-fields.ts";
import { missing } from "../../shared/request-fault.ts";
import { toJsonSchema } from "./json-schema.ts";

/** A path as the client spelled it. */
export type Spell = (path: string) => string;

/**
 * A member of a tool besides `functionDeclarations` is a tool that Google runs.
 * @throws GatewayError code `unsupported_tool` for tools of Google without which the request makes no sense
 */
export function decodeTools(tools: Json | undefined, spell: Spell, context: CodecContext): Tool[] {
  const decoded = list(tools).flatMap((tool, index) =>
    isObject(tool) ? decodeTool(tool, `tools[${index}]`, spell) : [],
  );
  if (!context.sameFormat)
    refuseHosted(
      decoded,
      ({ name }) => name,
      undefined,
      (name) => name === "computerUse",
    );
  return decoded;
}

function decodeTool({ functionDeclarations, ...hosted }: JsonObject, path: string, spell: Spell): Tool[] {
  const functions = list(functionDeclarations).flatMap((declaration, index) =>
    isObject(declaration)
      ? [decodeFunction(declaration, `${path}.functionDeclarations[${index}]`, spell)]
      : [],
  );
  const own = Object.entries(hosted)
    .filter(([, value]) => value != null)
    .map(([name, value]): Tool => hostedTool(name, value, spell(`${path}.${name}`)));
  return [...functions, ...own];
}

/** Members of a declaration that the canonical tool has. */
const CANONICAL: ReadonlySet<string> = new Set(["name", "description", "parameters", "parametersJsonSchema"]);

function decodeFunction(declaration: JsonObject, path: string, spell: Spell): Tool {
  const { name, description, parameters, parametersJsonSchema } = declaration;
  if (typeof name !== "string" || name === "") throw missing(spell(`${path}.name`));
  const schema = parametersJsonSchema ?? parameters;
  const member = parametersJsonSchema == null ? "parameters" : "parametersJsonSchema";
  const rest = Object.entries(declaration).filter(([key, value]) => !CANONICAL.has(key) && value != null);
  return {
    kind: "function",
    name,
    path: spell(path),
    memberPaths: { parameters: spell(`${path}.${member}`) },
    ...(typeof description === "string" && { description }),
    ...(isObject(schema) && { parameters: toJsonSchema(schema) }),
    ...(rest.length > 0 && { format: FORMAT, value: Object.fromEntries(rest) }),
  };
}

function hostedTool(name: string, value: Json | undefined, path: string): Tool {
  const searchesWeb = /search/i.test(name) && name !== "fileSearch";
  return {
    kind: "foreign",
    name,
    path,
    ...(searchesWeb && { searchesWeb }),
    format: FORMAT,
    value: { [name]: value ?? null },
  };
}

/** Decodes `toolConfig`; no choice for modes that are not documented. */
export function decodeToolChoice(config: Json | undefined): ToolChoice | undefined {
  const calling = isObject(config) ? config.functionCallingConfig : undefined;
  if (!isObject(calling)) return undefined;
  const names = list(calling.allowedFunctionNames).filter((name) => typeof name === "string");
  switch (text(calling.mode)?.toUpperCase()) {
    case "AUTO":
      return { type: "auto" };
    case "NONE":
      return { type: "none" };
    case "ANY":
      if (names.length === 0) return { type: "required" };
      return names.length === 1
        ? { type: "tool", name: names[0]! }
        : { type: "allowed", names, required: true };
    case "VALIDATED":
      return names.length === 0 ? { type: "auto" } : { type: "allowed", names, required: false };
    default:
      return undefined;
  }
}
