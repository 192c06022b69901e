/** Decodes tools. The format has no choice among them. */
import type { Tool } from "../../../core/chat.ts";
import type { Json } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { list } from "../../shared/read.ts";

/** @param tools as `checkRequest` accepts them */
export function decodeTools(tools: Json | undefined): Tool[] {
  return list(tools).flatMap((tool, index) => decodeTool(tool, `tools[${index}]`));
}

function decodeTool(tool: Json, path: string): Tool[] {
  if (!isObject(tool) || !isObject(tool.function)) return [];
  const { name, description, parameters } = tool.function;
  return [
    {
      kind: "function",
      name: String(name),
      path,
      memberPaths: { parameters: `${path}.function.parameters` },
      ...(typeof description === "string" && { description }),
      ...(isObject(parameters) && { parameters }),
    },
  ];
}
