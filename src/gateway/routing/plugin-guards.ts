/** The judges of texts that plugins bring. */
import type { PluginGuard } from "../../core/plugin-guard.ts";
import type { RegistryOptions } from "./registry-options.ts";

/** By their names. @throws Error if two plugins bring one of the same name: no one could tell which of them judges */
export function guardsOf(plugins: RegistryOptions["plugins"]): ReadonlyMap<string, PluginGuard> {
  const guards = new Map<string, PluginGuard>();
  for (const { plugin } of plugins)
    for (const guard of plugin.guards ?? []) {
      if (guards.has(guard.name)) throw new Error(`two plugins bring a guard named ${guard.name}`);
      guards.set(guard.name, guard);
    }
  return guards;
}
