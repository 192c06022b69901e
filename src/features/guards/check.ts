/** The lines of `weir check` about models that guards name, and about guards that keys name. */
import { keys } from "../../config/sections/keys.ts";
import { matchesAny, namesOf } from "../../core/model-pattern.ts";
import type { PluginFinding } from "../../core/plugin.ts";
import type { Served } from "../../gateway/seams.ts";
import { addedGuards } from "./key-options.ts";
import { guardsOf } from "./section.ts";

export async function check({ config, catalog }: Served): Promise<readonly PluginFinding[]> {
  const found: PluginFinding[] = [];
  for (const { name, do: action, unless } of guardsOf(config)) {
    if (typeof action !== "object") continue;
    const { route } = action;
    const fault = (clause: string) =>
      found.push({ severity: "fault", message: `guards.${name}.do.route: ${clause}` });
    const known = await catalog.known(route);
    if (!known) fault(`no provider that is on serves ${JSON.stringify(route)}; see weir models.`);
    else if (unless && known.model !== undefined && !matchesAny(unless, namesOf(known.provider, known.model)))
      fault(`unless does not permit ${known.provider}/${known.model}, so no model could answer.`);
  }
  return [...found, ...faultsOfKeys(config)];
}

/** A key whose guard does not exist admits no call, and without any guard its calls go unguarded. */
function faultsOfKeys(config: object): PluginFinding[] {
  const known = new Set(guardsOf(config).map(({ name }) => name));
  return keys.of(config).flatMap((key) => {
    const { [addedGuards.name]: added = [] } = key as unknown as Record<string, readonly string[]>;
    return added
      .filter((name) => !known.has(name))
      .map((name): PluginFinding => ({
        severity: "fault",
        message: `the key ${key.name} needs the guard ${JSON.stringify(name)}, which is not in guards.`,
      }));
  });
}
