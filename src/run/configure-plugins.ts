/** Gives plugins their options, and takes the hooks that they have for them. */
import { assertPluginsKnown, optionsFor } from "../config/plugin-options.ts";
import { ConfigError, type Path } from "../config/error.ts";
import type { Config } from "../config/schema.ts";
import { optionsOfPlugins } from "../config/sections/plugins.ts";
import { describeThrown } from "../core/error-text.ts";
import type { CheckHow, Hooks, Plugin } from "../core/plugin.ts";
import { knowMetric, listColumn } from "../core/plugin-listed.ts";
import type { BrokenPlugin } from "../external-plugins/discover.ts";
import { mayDecide } from "../external-plugins/declaration.ts";
import type { LoadedPlugin } from "../gateway/routing/registry.ts";
import { columnsOf } from "./plugin-columns.ts";
import { metricsOf } from "./plugin-metrics.ts";

/** Plugins with the hooks for their options. */
export interface Configured {
  plugins: readonly LoadedPlugin[];
  broken: readonly BrokenPlugin[];
  /** Tells the plugins that names of models have another meaning than before. */
  modelsChanged(): void;
}

/**
 * @param broken plugins that could not be loaded: their options are not checked
 * @throws ConfigError for options that do not fit the schema of their plugin, and for those of an unknown one
 */
export function configurePlugins(
  loaded: readonly LoadedPlugin[],
  broken: readonly BrokenPlugin[],
  config: Config,
  locate: (path: Path) => string,
): Configured {
  const written = optionsOfPlugins(config.plugins);
  if (broken.length === 0)
    assertPluginsKnown(
      written,
      loaded.map(({ plugin }) => plugin),
      locate,
    );
  const faults: BrokenPlugin[] = [];
  const taken = new Map<string, string>();
  const watchers: (() => void)[] = [];
  const plugins = loaded.flatMap((one) => {
    const { plugin, source } = one;
    const { section } = plugin;
    const clash = nameFault(plugin, taken);
    if (clash !== undefined) {
      faults.push({ file: source, message: `${source}: ${clash}`, mayDecide: mayDecide(plugin) });
      return [];
    }
    if (!section) return [one];
    try {
      const made = section.configure(optionsFor({ name: plugin.name, section }, written, locate));
      if (made?.modelsChanged) watchers.push(() => made.modelsChanged!());
      const check = made?.check && { check: (how: CheckHow) => made.check!(how) };
      return [{ ...one, plugin: { ...plugin, hooks: joined(plugin.hooks, made?.hooks), ...check } }];
    } catch (cause) {
      if (cause instanceof ConfigError) throw cause;
      faults.push({
        file: source,
        message: `${source}: ${describeThrown(cause)}`,
        mayDecide: mayDecide(plugin),
      });
      return [];
    }
  });
  return {
    plugins,
    broken: [...broken, ...faults],
    modelsChanged: () => {
      for (const watcher of watchers) watcher();
    },
  };
}

/**
 * Takes the names of a plugin's columns and metrics. The metrics count nothing before a gateway serves with the plugin.
 * @param taken the owners of the names so far
 * @returns a clause about what weir cannot check or count, or about the name of another plugin
 */
function nameFault(plugin: Plugin, taken: Map<string, string>): string | undefined {
  let names: string[];
  try {
    names = [
      ...columnsOf(plugin).map(({ name }) => `column ${name}`),
      ...metricsOf(plugin).map(([, { name }]) => `metric ${name}`),
    ];
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
  const clash = names.find((name) => taken.has(name));
  if (clash !== undefined) return `its ${clash} is one of the plugin ${taken.get(clash)} already`;
  for (const name of names) taken.set(name, plugin.name);
  for (const column of plugin.columns ?? []) listColumn(column);
  for (const metric of plugin.metrics ?? []) knowMetric(metric);
  return undefined;
}

/** The hooks for the options replace those of the plugin. */
function joined(own: Hooks | undefined, made: Hooks | undefined): Hooks | undefined {
  return own || made ? { ...own, ...made } : undefined;
}
