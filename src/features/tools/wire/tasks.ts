/** Capabilities around tasks: the extension of 2026-07-28 (SEP-2663), and the experiment of 2025-11-25, which weir has not. */
import { isObject, type JsonObject } from "../../../core/json.ts";

export const TASKS = "io.modelcontextprotocol/tasks";

export function hasTasks({ extensions }: JsonObject): boolean {
  return isObject(extensions) && extensions[TASKS] !== undefined;
}

/** Capabilities without tasks of any revision. */
export function withoutTasks({ tasks: _, ...capabilities }: JsonObject): JsonObject {
  if (!hasTasks(capabilities)) return capabilities;
  const { [TASKS]: __, ...extensions } = capabilities["extensions"] as JsonObject;
  return { ...capabilities, extensions };
}
