/** Routes and fallbacks of the config, normalized: every short form is expanded. */
import type { Fallback, RouteTarget } from "../core/settings.ts";
import type { Sliced } from "../core/slices.ts";
import type { Path } from "./error.ts";
import { ConfigError } from "./error.ts";
import type { Config } from "./schema.ts";

export interface Routes {
  routes: Record<string, RouteTarget[]>;
  fallbacks: Record<string, Fallback[]>;
}

/** Expands short forms and fills in defaults. */
export function completeRoutes({ routes, fallbacks }: Pick<Config, "routes" | "fallbacks">): Routes {
  return {
    routes: mapValues(routes, (target) => ({ weight: 1, priority: 0, ...asGroup(target) })),
    fallbacks: mapValues(fallbacks, (target) => ({ when: "failed", ...asGroup(target) })),
  };
}

function asGroup<Group extends { model: string }>(target: string | Group): Group | { model: string } {
  return typeof target === "string" ? { model: target } : target;
}

function mapValues<From, To>(
  lists: Record<string, From[]>,
  complete: (entry: From) => To,
): Record<string, To[]> {
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.map(complete)]));
}

/** A model that the config names, and where. */
export interface NamedModel {
  path: Path;
  model: string;
}

/** The models that aliases, routes and fallbacks name. */
export function* namedModels({
  aliases,
  routes,
  fallbacks,
}: Pick<Config, "aliases"> & Routes): Generator<NamedModel> {
  for (const [alias, model] of Object.entries(aliases)) yield { path: ["aliases", alias], model };
  const sections: [string, Record<string, readonly { model: string }[]>][] = [
    ["routes", routes],
    ["fallbacks", fallbacks],
  ];
  for (const [section, lists] of sections)
    for (const [name, targets] of Object.entries(lists))
      for (const [index, { model }] of targets.entries()) yield { path: [section, name, index], model };
}

/**
 * Checks that a provider serves each model that an alias, a route or a fallback names.
 * @param faultOf why no provider serves a model @param locate position of a config path
 * @throws ConfigError for the first model that is not served.
 */
export function* assertModelsServed(
  named: Pick<Config, "aliases"> & Routes,
  faultOf: (model: string) => string | undefined,
  locate: (path: Path) => string,
): Sliced<void> {
  for (const { path, model } of namedModels(named)) {
    const fault = faultOf(model);
    if (fault) throw new ConfigError(locate(path), fault.replace(/\.$/, ""), path);
    yield;
  }
}
