/** Decodes tools and tool choice. */
import type { Tool, ToolChoice } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { refuseHosted } from "../../shared/tools.ts";
import { decodeCache } from "../../shared/prompt-cache.ts";
import { list, text } from "../../shared/read.ts";
import { FORMAT } from "../own-fields.ts";
import { TOOL_KINDS } from "../tool-kinds.ts";
import { missing } from "../../shared/request-fault.ts";
import { itemPath } from "./item-path.ts";

/**
 * Decodes the tools of the request, then those that its items add. `Tool.value` is the declaration as the client wrote it; of
 * a tool in a namespace, the namespace with this tool alone.
 * @throws GatewayError code `unsupported_tool` for a tool without which the request makes no sense
 */
export function decodeTools(body: JsonObject, context: CodecContext): Tool[] {
  const tools = [
    ...decodeList(body.tools, "tools", context),
    ...list(body.input).flatMap((item, index, items) =>
      isObject(item) && (item.type === "additional_tools" || item.type === "tool_search_output")
        ? decodeList(item.tools, `${itemPath(items, index)}.tools`, context)
        : [],
    ),
  ];
  if (!context.sameFormat) refuseForeign(tools, body.tool_choice);
  return tools;
}

function decodeList(tools: Json | undefined, path: string, context: CodecContext): Tool[] {
  return list(tools).flatMap((tool, index) =>
    isObject(tool) ? decodeTool(tool, `${path}[${index}]`, context) : [],
  );
}

function decodeTool(tool: JsonObject, path: string, context: CodecContext): Tool[] {
  if (tool.type !== "namespace") return [placed(declared(tool, path, tool), path, tool)];
  const { tools, ...namespace } = tool;
  if (text(namespace.description))
    context.reportLoss("dropped", `${path}.description`, "the tools of the namespace are sent without it");
  return list(tools).flatMap((inner, index) => {
    if (!isObject(inner)) return [];
    const innerPath = `${path}.tools[${index}]`;
    const one = declared(inner, innerPath, { ...namespace, tools: [inner] });
    return [placed({ ...one, name: joinName(text(namespace.name), one.name) }, innerPath, inner)];
  });
}

function placed(tool: Tool, path: string, declaration: JsonObject): Tool {
  return { ...tool, path, ...decodeCache(declaration) };
}

/** The name of a tool for providers without namespaces. */
export function joinName(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}__${name}`;
}

/** @param value the declaration as `Tool.value` */
function declared(tool: JsonObject, path: string, value: JsonObject): Tool {
  const type = tool.type ?? "function";
  const own = { format: FORMAT, value };
  if (type === "function") return { ...functionTool(tool, path), ...own };
  if (type === "custom") return { ...customTool(tool, path), ...own };
  const kind = runsAtClient(tool) ? getOwn(TOOL_KINDS, String(type)) : undefined;
  if (kind)
    return {
      kind: "function",
      name: String(type),
      description: text(tool.description) ?? kind.description,
      parameters: isObject(tool.parameters) ? tool.parameters : kind.parameters,
      ...own,
    };
  const searchesWeb = String(type).startsWith("web_search");
  return { kind: "foreign", name: String(tool.name ?? type), ...(searchesWeb && { searchesWeb }), ...own };
}

/** A shell in a container and a search for tools without parameters run at the vendor. */
function runsAtClient({ type, environment, execution, parameters }: JsonObject): boolean {
  if (type === "shell") return !isObject(environment) || environment.type === "local";
  return type !== "tool_search" || (execution === "client" && isObject(parameters));
}

/** Clients that translate from chat-completions nest the declaration in `function` or `custom`. */
function functionTool(tool: JsonObject, path: string): Tool {
  const { name, description, parameters, strict } = isObject(tool.function) ? tool.function : tool;
  if (typeof name !== "string" || name === "") throw missing(`${path}.name`);
  return {
    kind: "function",
    name,
    ...(typeof description === "string" && { description }),
    ...(isObject(parameters) && { parameters }),
    ...(typeof strict === "boolean" && { strict }),
    memberPaths: { parameters: `${path}.parameters`, strict: `${path}.strict` },
  };
}

function customTool(tool: JsonObject, path: string): Tool {
  const { name, description, format } = isObject(tool.custom) ? tool.custom : tool;
  if (typeof name !== "string" || name === "") throw missing(`${path}.name`);
  const grammar = isObject(format) && isObject(format.grammar) ? format.grammar : format;
  return {
    kind: "custom",
    name,
    ...(typeof description === "string" && { description }),
    ...(isObject(grammar) &&
      typeof grammar.definition === "string" && {
        grammar: { syntax: text(grammar.syntax) ?? "formal", definition: grammar.definition },
      }),
    memberPaths: { format: `${path}.format` },
  };
}

/** A tool of a computer makes no sense elsewhere, and a server of tools is named for what only it can do. */
const ESSENTIAL = /^(?:computer|mcp$)/;

/** Providers of other formats do not run hosted tools. */
function refuseForeign(tools: readonly Tool[], choice: Json | undefined): void {
  const typeOf = ({ value }: Tool) => String(value?.type);
  const forced = isObject(choice)
    ? tools.find(({ kind, value }) => kind === "foreign" && value?.type === choice.type)
    : undefined;
  refuseHosted(tools, typeOf, forced, (type) => ESSENTIAL.test(type));
}

const CHOICES: Readonly<Record<string, ToolChoice>> = {
  auto: { type: "auto" },
  none: { type: "none" },
  required: { type: "required" },
};

/** Decodes the choice; `undefined` if it is absent or of an undocumented type. */
export function decodeToolChoice(choice: Json | undefined): ToolChoice | undefined {
  if (typeof choice === "string") return getOwn(CHOICES, choice);
  if (!isObject(choice)) return undefined;
  if (choice.type === "allowed_tools") {
    const { mode, tools } = isObject(choice.allowed_tools) ? choice.allowed_tools : choice;
    const names = list(tools)
      .map(nameOf)
      .filter((name) => name !== undefined);
    // Without a tool that weir knows, the choice is one between hosted tools.
    return names.length === 0 ? undefined : { type: "allowed", names, required: mode === "required" };
  }
  const name = nameOf(choice);
  return name === undefined ? undefined : { type: "tool", name };
}

/** `{type, name}`, the nested form of chat-completions, and `{type: "apply_patch"}`. */
function nameOf(choice: Json): string | undefined {
  if (!isObject(choice)) return undefined;
  const type = String(choice.type);
  const nested = choice[type];
  const name = text(isObject(nested) ? nested.name : choice.name);
  if (type === "function" || type === "custom")
    return name === undefined ? undefined : joinName(text(choice.namespace), name);
  return getOwn(TOOL_KINDS, type) && type;
}
