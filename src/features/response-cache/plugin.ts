/** The plugin of the response cache. Its code is loaded when a config turns it on. */
import type { OwnPlugin } from "../../gateway/seams.ts";
import { cacheSection } from "./section.ts";

/** A cache of its own for each load of the config, because the models behind names may have changed. */
export async function configure(config: object): Promise<OwnPlugin | undefined> {
  const options = cacheSection.of(config);
  if (options.keys.length === 0) return undefined;
  const { default: shipped, responseCache } = await import("../../../plugins/response-cache/index.ts");
  const { hooks, modelsChanged } = responseCache(options);
  return { plugin: { name: shipped.name, ...(hooks && { hooks }) }, ...(modelsChanged && { modelsChanged }) };
}
