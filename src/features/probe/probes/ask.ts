/** Parts of requests that several probes send. */
import type { JsonObject } from "../../../core/json.ts";

export function user(text: string): JsonObject[] {
  return [{ role: "user", content: text }];
}

/** A tool with one text argument. */
export function tool(name: string, description: string, more: JsonObject = {}): JsonObject {
  return {
    type: "function",
    function: {
      name,
      description,
      parameters: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      },
      ...more,
    },
  };
}

export const WEATHER = tool("get_weather", "Returns the weather of a city.");
export const TIME = tool("get_time", "Returns the time in a city.");
