/** A worker's answer to the console about models: what is known of each, and where the config names it. */
import { writePath } from "../../config/error.ts";
import { completeRoutes, namedModels } from "../../config/routes.ts";
import type { Config } from "../../config/schema.ts";
import type { ModelFacts } from "../../core/model-facts.ts";
import type { Frozen } from "../../operator/contract.ts";
import type { KnownModel } from "../../operator/routing.ts";
import type { Inspected } from "./inspected.ts";

/** Picodollars in a dollar. */
const PICO = 1e12;

/** @param models names that callers ask about; those of the config follow */
export async function describeFacts(
  models: readonly string[],
  { merged, parts: { catalog } }: Inspected,
): Promise<Frozen<KnownModel>[]> {
  const named = placesIn(merged);
  const all = new Set([...models, ...named.keys()]);
  return Promise.all(
    [...all].map(async (id) => {
      const { places, others } = named.get(id) ?? { places: [], others: [] };
      const facts = (await catalog.find(id))?.facts ?? {};
      return { id, places, ...factsOf(facts), ...(others.length > 0 && { others }) };
    }),
  );
}

interface Places {
  readonly places: string[];
  /** Other models of the routes and fallbacks that name it. */
  others: string[];
}

function placesIn({ aliases, routes, fallbacks }: Config): ReadonlyMap<string, Places> {
  const found = new Map<string, Places>();
  const lists = completeRoutes({ routes, fallbacks });
  for (const { path, model } of namedModels({ ...lists, aliases })) {
    const one = found.get(model) ?? { places: [], others: [] };
    found.set(model, one);
    one.places.push(writePath(path));
    const [section, name] = path as [string, string];
    const beside = section === "aliases" ? [] : (lists[section as keyof typeof lists][name] ?? []);
    one.others = [...new Set([...one.others, ...beside.map((target) => target.model)])].filter(
      (other) => other !== model,
    );
  }
  return found;
}

function factsOf({ name, contextWindow, maxOutput, input, prices, abilities = {}, ...facts }: ModelFacts) {
  const can = Object.entries(abilities).flatMap(([ability, has]) => (has ? [ability] : []));
  return {
    ...(name !== undefined && { name }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(input && { takes: [...input] }),
    ...(can.length > 0 && { can }),
    // What is charged by units is not free.
    ...(prices &&
      (!prices.units || prices.input > 0) && {
        input: Math.round(prices.input * PICO),
        output: Math.round(prices.output * PICO),
      }),
    ...(facts.deprecatedOn !== undefined && { lastDay: facts.deprecatedOn }),
  };
}
