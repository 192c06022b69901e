/** Whether a kept request can be sent again, and what it offers. */
import type { KeptBody } from "../../admin/kept-bodies.ts";
import { isObject, type JsonObject } from "../../core/json.ts";

/** @returns why the request cannot be sent again, as a sentence; undefined if it can */
export function faultOf({ operation, request, cut = [], replaced = [] }: KeptBody): string | undefined {
  if (operation !== "generate")
    return `Only requests for an answer are sent again; this was one of the kind ${operation}.`;
  if (cut.includes("request"))
    return `Only the first ${request.length.toLocaleString("en-US")} characters of the request were kept. A larger capture.bytes keeps the whole of the next ones.`;
  if (replaced.includes("data"))
    return "The images or files of the request were not kept, only their digests, so it cannot be sent again as it was.";
  return undefined;
}

/** Names of the tools of a request, in any format of clients. */
export function toolsIn(body: JsonObject): string[] {
  const tools = Array.isArray(body["tools"]) ? body["tools"] : [];
  return tools.flatMap((tool) => (isObject(tool) ? namesIn(tool) : []));
}

function namesIn(tool: JsonObject): string[] {
  const inner = tool["function"];
  const name = isObject(inner) ? inner["name"] : (tool["name"] ?? tool["type"]);
  return typeof name === "string" ? [name] : [];
}
