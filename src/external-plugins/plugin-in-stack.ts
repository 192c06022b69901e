/** Finds the plugin that a fault comes from. */
import type { LoadedPlugin } from "../gateway/routing/registry.ts";
import { describeThrown } from "../core/error-text.ts";

/** The external plugin that caused a fault, if its file is in the stack: ` (plugin NAME, FILE)`. */
export function pluginInStack(plugins: readonly LoadedPlugin[], cause: unknown): string {
  const stack = describeThrown(cause);
  const found = plugins.find(({ source }) => source !== "built-in" && stack.includes(source));
  return found ? ` (plugin ${found.plugin.name}, ${found.source})` : "";
}
