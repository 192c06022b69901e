/** Lean lists: three tools that stand for all tools of a caller, which it finds by searching. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { OfferedTool, ToolResult } from "../bench.ts";
import { CODE, McpError } from "../wire/messages.ts";
import { ToolSearch } from "./search.ts";

const FIND = "find_tools";
const DESCRIBE = "describe_tool";
const CALL = "call_tool";

const USUAL = 8;
const MOST = 50;
/** Longest description in the answer of a search. Characters. */
const MOST_TEXT = 300;

const NAME = { type: "string", description: `Name of the tool, as ${FIND} gives it.` };
const READS = { readOnlyHint: true, openWorldHint: false };

/** The list of a caller. */
export const LEAN_TOOLS: readonly JsonObject[] = [
  {
    name: FIND,
    title: "Find tools",
    description: `Searches the tools that are available here, and returns the names and descriptions of those that fit best. Search before you say that something cannot be done. Then read the arguments with ${DESCRIBE}, and use the tool with ${CALL}.`,
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "What the tool should do, in a few words." },
        limit: { type: "integer", minimum: 1, maximum: MOST, default: USUAL },
      },
      required: ["query"],
    },
    annotations: READS,
  },
  {
    name: DESCRIBE,
    title: "Describe a tool",
    description: "Returns the whole definition of a tool, with the schema of its arguments.",
    inputSchema: { type: "object", properties: { name: NAME }, required: ["name"] },
    annotations: READS,
  },
  {
    name: CALL,
    title: "Call a tool",
    description: "Calls a tool, and returns its result.",
    inputSchema: {
      type: "object",
      properties: {
        name: NAME,
        arguments: { type: "object", description: `As its schema in ${DESCRIBE} says.` },
      },
      required: ["name"],
    },
  },
];

/** What a call of one of the three comes to: a result, or the call of another tool. */
export type LeanAnswer =
  | { readonly result: ToolResult }
  | { readonly call: { readonly name: string; readonly arguments: JsonObject } };

export const isLean = (name: string): boolean => LEAN_TOOLS.some((one) => one["name"] === name);

/**
 * Answers a call of one of the three.
 * @param tools those that the caller may use, and no others
 * @throws McpError if the name is none of them
 */
export function leanAnswer(tools: readonly OfferedTool[], name: string, args: Json | undefined): LeanAnswer {
  const given = isObject(args) ? args : {};
  if (name === FIND) return { result: found(tools, given) };
  if (name === DESCRIBE) return { result: described(tools, given["name"]) };
  if (name !== CALL) throw new McpError(CODE.params, `Unknown tool: ${name}`);
  const tool = toolNamed(tools, given["name"]);
  if (!tool) return { result: unknown(given["name"]) };
  const { arguments: passed = {} } = given;
  if (!isObject(passed)) return { result: failure("arguments must be an object") };
  return { call: { name: tool.name, arguments: passed } };
}

/** A list is searched more than once: the index stays as long as the list. */
const indexes = new WeakMap<readonly OfferedTool[], ToolSearch<OfferedTool>>();

function found(tools: readonly OfferedTool[], { query, limit }: JsonObject): ToolResult {
  if (typeof query !== "string") return failure("query must be a text");
  const most = Number.isInteger(limit) ? Math.min(Math.max(limit as number, 1), MOST) : USUAL;
  const index = indexes.get(tools) ?? new ToolSearch(tools);
  indexes.set(tools, index);
  const fitting = index.find(query, most).map(({ name, title, description }) => ({
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description: cut(description) }),
  }));
  return structured({ tools: fitting, of: tools.length });
}

function described(tools: readonly OfferedTool[], name: Json | undefined): ToolResult {
  const tool = toolNamed(tools, name);
  if (!tool) return unknown(name);
  const { server: _, tool: __, ...definition } = tool;
  return structured(definition as unknown as JsonObject);
}

/** Clients that see one tool put their own prefix in front of the name of another: only whole names count. */
function toolNamed(tools: readonly OfferedTool[], name: Json | undefined): OfferedTool | undefined {
  return tools.find((one) => one.name === name);
}

function cut(text: string): string {
  const letters = [...text.slice(0, 2 * MOST_TEXT)];
  return letters.length <= MOST_TEXT ? text : `${letters.slice(0, MOST_TEXT - 1).join("")}…`;
}

/** The same words for a tool that does not exist and one that the caller may not use. */
const unknown = (name: Json | undefined) =>
  failure(`Unknown tool: ${typeof name === "string" ? name : "(none)"}`);

const failure = (text: string): ToolResult => ({ content: [{ type: "text", text }], isError: true });

function structured(value: JsonObject): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}
