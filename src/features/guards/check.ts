/** The lines of `weir check` about models that guards name. */
import { matchesAny, namesOf } from "../../core/model-pattern.ts";
import type { PluginFinding } from "../../core/plugin.ts";
import type { Served } from "../../gateway/seams.ts";
import { guardsOf } from "./section.ts";

export async function check({ config, catalog }: Served): Promise<readonly PluginFinding[]> {
  const found: PluginFinding[] = [];
  for (const { name, do: action, unless } of guardsOf(config)) {
    if (typeof action === "string") continue;
    const { route } = action;
    const fault = (clause: string) =>
      found.push({ severity: "fault", message: `guards.${name}.do.route: ${clause}` });
    const known = await catalog.known(route);
    if (!known) fault(`no provider that is on serves ${JSON.stringify(route)}; see weir models.`);
    else if (unless && known.model !== undefined && !matchesAny(unless, namesOf(known.provider, known.model)))
      fault(`unless does not permit ${known.provider}/${known.model}, so no model could answer.`);
  }
  return found;
}
