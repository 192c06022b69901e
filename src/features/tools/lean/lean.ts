/** Lean lists: three tools that stand for all tools of a caller, which it finds by searching. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { ToolResult } from "../bench.ts";
import { type Searched, ToolSearch } from "./search.ts";

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

export const isLean = (name: unknown): boolean => LEAN_TOOLS.some((one) => one["name"] === name);

/** The tool that a call of `call_tool` means; undefined for any other call. */
export function innerCall(name: unknown, args: unknown): { name: string; arguments: JsonObject } | undefined {
  if (name !== CALL || !isObject(args) || typeof args["name"] !== "string") return undefined;
  const { arguments: passed = {} } = args;
  return isObject(passed) ? { name: args["name"], arguments: passed } : undefined;
}

/**
 * Answers a call of one of the three that calls no tool.
 * @param tools those that the caller may use, and no others
 */
export function leanResult(tools: readonly Defined[], name: string, args: Json | undefined): ToolResult {
  const given = isObject(args) ? args : {};
  if (name === FIND) return found(tools, given);
  if (name === DESCRIBE) return described(tools, given["name"]);
  return failure(`${CALL} needs the name of a tool, and arguments that are an object`);
}

/** A definition with the name that the caller uses. */
export type Defined = Searched & JsonObject;

function found(tools: readonly Defined[], { query, limit }: JsonObject): ToolResult {
  if (typeof query !== "string") return failure("query must be a text");
  const most = Number.isInteger(limit) ? Math.min(Math.max(limit as number, 1), MOST) : USUAL;
  const fitting = new ToolSearch(tools).find(query, most).map(({ name, title, description }) => ({
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description: cut(description) }),
  }));
  return structured({ tools: fitting, of: tools.length });
}

function described(tools: readonly Defined[], name: Json | undefined): ToolResult {
  const tool = tools.find((one) => one.name === name);
  return tool ? structured(tool) : failure(`Unknown tool: ${typeof name === "string" ? name : "(none)"}`);
}

function cut(text: string): string {
  const letters = [...text.slice(0, 2 * MOST_TEXT)];
  return letters.length <= MOST_TEXT ? text : `${letters.slice(0, MOST_TEXT - 1).join("")}…`;
}

const failure = (text: string): ToolResult => ({ content: [{ type: "text", text }], isError: true });

function structured(value: JsonObject): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}
