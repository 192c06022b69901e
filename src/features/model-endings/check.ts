/** The lines of `weir check` about such models. */
import type { PluginFinding } from "../../core/plugin.ts";
import type { Served } from "../../gateway/seams.ts";
import { endingModels } from "./endings.ts";

/** A warning for each model. */
export async function check(served: Served): Promise<readonly PluginFinding[]> {
  const sentences = await endingModels(served, Date.now());
  return sentences.map((message) => ({ severity: "warning", message }));
}
