/** Assembles plugins, formats and config into one registry, for `serve` and for the commands that inspect the config. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { builtIn } from "../../plugins/index.ts";
import type { DefaultEndpoints } from "../config/default-endpoints.ts";
import type { Path } from "../config/error.ts";
import { ConfigError } from "../config/error.ts";
import {
  assertProvidersKnown,
  isConfigured,
  isUnset,
  providerSettings,
  providersOfConfig,
} from "../config/providers.ts";
import { assertModelsServed, completeRoutes } from "../config/routes.ts";
import type { Config } from "../config/schema.ts";
import type { Format } from "../core/format.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { FactBook } from "../core/model-facts.ts";
import type { Hooks, Plugin } from "../core/plugin.ts";
import type { Provider } from "../core/provider.ts";
import type { BrokenPlugin, Discovered } from "../external-plugins/discover.ts";
import { inSlices, nextTurn } from "../core/slices.ts";
import { dialects } from "../embeddings/index.ts";
import { kinds } from "../kinds/index.ts";
import { mayDecide } from "../external-plugins/declaration.ts";
import { loadPlugins } from "../external-plugins/discover.ts";
import type { NameOptions } from "../gateway/routing/model-names.ts";
import type { LoadOwnPlugin } from "../gateway/seams.ts";
import { configurePlugins } from "./configure-plugins.ts";
import { builtInFormats } from "./formats.ts";
import { ModelCatalog } from "../gateway/models/catalog.ts";
import type { LoadedPlugin, RegistryOptions } from "../gateway/routing/registry.ts";
import { Registry } from "../gateway/routing/registry.ts";

export interface Assembled {
  registry: Registry;
  /** The models of the registry with what is known about them. */
  catalog: ModelCatalog;
  plugins: readonly LoadedPlugin[];
  /** External plugins that could not be loaded. */
  broken: readonly BrokenPlugin[];
  /** Tells plugins that names of models have another meaning than before: models were added or removed at run time. */
  modelsChanged(): void;
}

export interface AddedPlugins {
  /** Of features, in front of the built-in ones. */
  features?: readonly LoadOwnPlugin[] | undefined;
  /** Of the command that starts the gateway, after the built-in ones. */
  command?: readonly Plugin[] | undefined;
  /** Makes of each external plugin what weir uses in its place: a rehearsal notes what it reads. */
  watch?: ((plugin: Plugin) => Plugin) | undefined;
}

/**
 * @param locate position of a config path, for messages
 * @param added plugins besides the built-in ones and those of files
 * @throws Error with one sentence if plugins or settings contradict each other
 */
export async function assemble(
  config: Config,
  env: Record<string, string | undefined>,
  locate: Locate = () => "weir.yaml",
  { features = [], command = [], watch }: AddedPlugins = {},
): Promise<Assembled> {
  const { dir } = config.plugins;
  const formats = builtInFormats(config.messages);
  const endpoints = Object.fromEntries(formats.map(({ id, upstream }) => [id, upstream?.address.endpoint]));
  const parts = {
    formats,
    dialects,
    kinds,
    settings: (provider: Provider) => providerSettings(config, env, provider, endpoints),
    isUnset: (provider: Provider) => isUnset(config, env, provider),
    isConfigured: (provider: Provider) => isConfigured(config, env, provider),
  };
  const loaded = await loadPlugins({ ...config.plugins, except: shippedFiles(dir) });
  const watched = watch && loaded.plugins.map((one) => ({ ...one, plugin: watch(one.plugin) }));
  const dropped = watched ? { ...loaded, plugins: watched } : loaded;
  const made = await Promise.all(features.map(async (load) => (await load()).configure(config)));
  const own = made.filter((one) => one !== undefined);
  const shipped = [...own.map(({ plugin }) => plugin), ...builtIn, ...command];
  const sorted = sortOut(shipped, dropped, parts);
  const configured = configurePlugins(sorted.plugins, sorted.broken, config, locate);
  const { broken } = configured;
  const plugins = [...configured.plugins, ...pluginsOfConfig(config, configured.plugins, endpoints)];
  await nextTurn();
  const routes = completeRoutes(config);
  await nextTurn();
  const registry = new Registry({
    ...parts,
    plugins,
    order: Object.keys(config.providers),
    keyed: config.keys.length > 0,
    ...namesOf(config),
  });
  await nextTurn();
  const names = [...registry.providers, ...registry.off.map(({ provider }) => provider)].map(
    ({ name }) => name,
  );
  // Names that a broken plugin may define are not reported as unknown.
  if (broken.length === 0) {
    assertProvidersKnown(config, names, locate);
    const served = { ...routes, aliases: config.aliases };
    await inSlices(assertModelsServed(served, (model) => registry.faultOf(model), locate));
  }
  const modelsChanged = () => {
    for (const one of own) one.modelsChanged?.();
    configured.modelsChanged();
  };
  const catalog = new ModelCatalog(registry, () => readFacts(config));
  return { registry, catalog, plugins, broken, modelsChanged };
}

/** Settings of the config by the names of models. */
export function namesOf(config: Config): NameOptions {
  const { aliases, models, routing } = config;
  return { aliases, models, routing, ...completeRoutes(config) };
}

/**
 * Refuses to serve without a plugin that could not be loaded.
 * @param strict `plugins.strict` of the config
 * @throws Error with one sentence: by default for one that may decide about calls, as a redaction does
 */
export function assertLoaded(broken: readonly BrokenPlugin[], strict: boolean | undefined): void {
  if (strict === false) return;
  const [first] = strict ? broken : broken.filter(({ mayDecide }) => mayDecide);
  if (!first) return;
  throw new Error(
    strict
      ? `plugins.strict: ${first.message}`
      : `${first.message.replace(/\.$/, "")}; it may have hooks or guards that decide about calls, so weir does not serve without it; repair or remove the file, or set plugins.strict: false`,
  );
}

/** The hooks of all plugins. */
export function hooksOf(plugins: readonly LoadedPlugin[]): readonly Hooks[] {
  return plugins.flatMap(({ plugin }) => plugin.hooks ?? []);
}

/** Read at the first list of models. */
export async function readFacts({ prices }: Config): Promise<FactBook> {
  const { createFactBook } = await import("../ledger/prices/fact-book.ts");
  return createFactBook(prices);
}

/** Providers that only the config describes, each wrapped in a plugin. */
function pluginsOfConfig(
  config: Config,
  plugins: readonly LoadedPlugin[],
  endpoints: DefaultEndpoints,
): LoadedPlugin[] {
  const known = plugins.flatMap(({ plugin }) => (plugin.providers ?? []).map(({ name }) => name));
  return providersOfConfig(config, new Set(known), endpoints).map((provider) => ({
    plugin: { name: provider.name, providers: [provider] },
    source: "config",
  }));
}

/**
 * The built-in plugins and the valid external ones. An invalid declaration or a name that is already taken excludes only the
 * file that contains it.
 */
function sortOut(
  shipped: readonly Plugin[],
  dropped: Discovered,
  parts: Pick<RegistryOptions, "formats" | "dialects" | "settings" | "isUnset">,
): Pick<Assembled, "plugins" | "broken"> {
  let plugins: LoadedPlugin[] = shipped.map((plugin) => ({ plugin, source: "built-in" }));
  const broken = [...dropped.broken];
  for (const candidate of dropped.plugins) {
    try {
      new Registry({ ...parts, plugins: [...plugins, candidate] });
      plugins = [...plugins, candidate];
    } catch (cause) {
      if (cause instanceof ConfigError || !(cause instanceof Error)) throw cause;
      const { source } = candidate;
      broken.push({
        file: source,
        message: cause.message.startsWith(source) ? cause.message : `${source}: ${cause.message}`,
        mayDecide: mayDecide(candidate.plugin),
      });
    }
  }
  return { plugins, broken };
}

type Locate = (path: Path) => string;
/** Names of the files that are built-in plugins, which are loaded already: in weir's own repository, where weir was built. */
function shippedFiles(dir: string): ReadonlySet<string> {
  if (!isOwnRepository(dirname(resolve(dir)))) return new Set();
  return new Set(["index.ts", ...builtIn.map((plugin: Plugin) => `${plugin.name}.ts`)]);
}

function isOwnRepository(folder: string): boolean {
  if (!["src/main.ts", "plugins/index.ts"].every((path) => existsSync(join(folder, path)))) return false;
  try {
    const about = parseJson(readFileSync(join(folder, "package.json"), "utf8"));
    return isObject(about) && about.name === "weir";
  } catch {
    return false;
  }
}
