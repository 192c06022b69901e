/** Models that the config names and that their provider turns off soon, or has turned off. */
import { writePath } from "../../config/error.ts";
import { completeRoutes, namedModels } from "../../config/routes.ts";
import { aliases, fallbacks, routes } from "../../config/sections/models.ts";
import { endsSoon } from "../../core/model-facts.ts";
import type { Served } from "../../gateway/seams.ts";

/**
 * A sentence for each model. Reads what is known about models, which takes milliseconds.
 * @param now milliseconds since 1970
 */
export async function endingModels({ config, catalog }: Served, now: number): Promise<string[]> {
  const places = new Map<string, string[]>();
  const targets = completeRoutes({ routes: routes.of(config), fallbacks: fallbacks.of(config) });
  for (const { path, model } of namedModels({ ...targets, aliases: aliases.of(config) }))
    places.set(model, [...(places.get(model) ?? []), writePath(path)]);
  const sentences: string[] = [];
  for (const [name, paths] of places) {
    const facts = (await catalog.known(name))?.facts ?? {};
    if (endsSoon(facts, now)) sentences.push(sentence(name, paths, facts.deprecatedOn!, now));
  }
  return sentences;
}

function sentence(name: string, paths: readonly string[], day: string, now: number): string {
  const turned = Date.parse(day) > now ? "turns this model off on" : "was to turn this model off on";
  return `${name} (at ${paths.join(", ")}): the provider ${turned} ${day}; name another model.`;
}
