/** Puts the parts together: plugins, formats and config into one registry. Shared by `serve` and the inspecting commands. */
import { resolve } from "node:path";
import { builtIn } from "../plugins/index.ts";
import type { Path } from "./config/error.ts";
import { ConfigError } from "./config/error.ts";
import { providerSettings } from "./config/providers.ts";
import type { Config } from "./config/schema.ts";
import type { Plugin } from "./core/plugin.ts";
import type { BrokenPlugin } from "./dropped/discover.ts";
import { loadPlugins } from "./dropped/discover.ts";
import { chatCompletionsFormat } from "./formats/chat-completions/index.ts";
import { createMessagesFormat } from "./formats/messages/index.ts";
import type { LoadedPlugin, RouteTarget } from "./gateway/registry.ts";
import { Registry } from "./gateway/registry.ts";

export interface Assembled {
  registry: Registry;
  plugins: readonly LoadedPlugin[];
  /** Dropped files that could not be used. */
  broken: readonly BrokenPlugin[];
}

/**
 * @param locate where a path of the config stands, for messages
 * @throws Error with one sentence when plugins or settings contradict each other.
 */
export async function assemble(
  config: Config,
  env: Record<string, string | undefined>,
  locate: Locate = () => "weir.yaml",
): Promise<Assembled> {
  const { dir } = config.plugins;
  const dropped = await loadPlugins({ ...config.plugins, except: shippedFiles(dir) });
  if (config.plugins.strict && dropped.broken[0])
    throw new Error(`plugins.strict: ${dropped.broken[0].message}`);
  const plugins = [...builtIn.map((plugin: Plugin) => ({ plugin, source: "built-in" })), ...dropped.plugins];
  const registry = new Registry({
    plugins,
    formats: [chatCompletionsFormat, createMessagesFormat({ systemTurns: config.messages.systemTurns })],
    settings: (provider) => providerSettings(config, env, provider),
    aliases: config.aliases,
    routes: Object.fromEntries(
      Object.entries(config.routes).map(([name, targets]) => [name, targets.map(completeTarget)]),
    ),
    fallbacks: config.fallbacks,
  });
  checkModels(registry, config, locate);
  return { registry, plugins, broken: dropped.broken };
}

type Locate = (path: Path) => string;
type ConfiguredTarget = Config["routes"][string][number];

function completeTarget(target: ConfiguredTarget): RouteTarget {
  if (typeof target === "string") return { model: target, weight: 1, priority: 0 };
  return { model: target.model, weight: target.weight ?? 1, priority: target.priority ?? 0 };
}

/** A route or a fallback to a model nobody serves would only show when it is needed. */
function checkModels(registry: Registry, { routes, fallbacks }: Config, locate: Locate): void {
  const named = [
    ...Object.entries(routes).map(([name, targets]) => ({
      path: ["routes", name],
      models: targets.map((target) => completeTarget(target).model),
    })),
    ...Object.entries(fallbacks).map(([name, models]) => ({ path: ["fallbacks", name], models })),
  ];
  for (const { path, models } of named)
    models.forEach((model, index) => {
      const fault = registry.faultOf(model);
      const at = [...path, index];
      if (fault) throw new ConfigError(locate(at), fault.replace(/\.$/, ""), at);
    });
}

/** From source, in the project's own folder, `plugins/` holds the shipped files too: those are there already. */
function shippedFiles(dir: string): ReadonlySet<string> {
  const own = resolve(import.meta.dir, "../plugins");
  if (Bun.isStandaloneExecutable || resolve(dir) !== own) return new Set();
  return new Set(["index.ts", ...builtIn.map((plugin: Plugin) => `${plugin.name}.ts`)]);
}
