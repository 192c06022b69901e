/** Writes the tool calls and results of a conversation as text, for a host that takes no tools. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/**
 * @param onChange called for each message that changes
 * @param isRefused whether the calls of a message have to be text, with their results. Default: those of all messages
 */
export function toolsAsText(
  messages: readonly JsonObject[],
  onChange: (message: JsonObject, at: number) => void,
  isRefused: (message: JsonObject) => boolean = () => true,
): JsonObject[] {
  const names = new Map<Json | undefined, string>();
  return messages.map((message, at) => {
    const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
    if (calls.length > 0 && isRefused(message)) {
      onChange(message, at);
      for (const call of calls) names.set(call.id, nameOf(call));
      const { tool_calls: _, ...rest } = message;
      const texts = calls.map((call) => `[call of tool ${nameOf(call)}: ${inputOf(call)}]`);
      return { ...rest, content: [...textsOf(message), ...texts].join("\n\n") };
    }
    if (message.role !== "tool" || !names.has(message.tool_call_id)) return message;
    onChange(message, at);
    const name = names.get(message.tool_call_id);
    return { role: "user", content: [`[result of tool ${name}]`, ...textsOf(message)].join("\n") };
  });
}

function nameOf({ function: body, custom }: JsonObject): string {
  const given = isObject(body) ? body : custom;
  return isObject(given) ? String(given.name) : "";
}

function inputOf({ function: body, custom }: JsonObject): string {
  if (isObject(body))
    return typeof body.arguments === "string" ? body.arguments : JSON.stringify(body.arguments);
  return isObject(custom) ? String(custom.input) : "";
}

function textsOf({ content }: JsonObject): string[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => (isObject(part) && typeof part.text === "string" ? part.text : []));
}
