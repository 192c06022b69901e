/** Puts the parts together: plugins, formats and config into one registry. Shared by `serve` and the inspecting commands. */
import { resolve } from "node:path";
import { builtIn } from "../plugins/index.ts";
import { providerSettings } from "./config/providers.ts";
import type { Config } from "./config/schema.ts";
import type { Plugin } from "./core/plugin.ts";
import type { BrokenPlugin } from "./dropped/discover.ts";
import { loadPlugins } from "./dropped/discover.ts";
import { chatCompletionsFormat } from "./formats/chat-completions/index.ts";
import { createMessagesFormat } from "./formats/messages/index.ts";
import type { LoadedPlugin } from "./gateway/registry.ts";
import { Registry } from "./gateway/registry.ts";

export interface Assembled {
  registry: Registry;
  plugins: readonly LoadedPlugin[];
  /** Dropped files that could not be used. */
  broken: readonly BrokenPlugin[];
}

/** @throws Error with one sentence when plugins or settings contradict each other. */
export async function assemble(config: Config, env: Record<string, string | undefined>): Promise<Assembled> {
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
  });
  return { registry, plugins, broken: dropped.broken };
}

/** From source, in the project's own folder, `plugins/` holds the shipped files too: those are there already. */
function shippedFiles(dir: string): ReadonlySet<string> {
  const own = resolve(import.meta.dir, "../plugins");
  if (Bun.isStandaloneExecutable || resolve(dir) !== own) return new Set();
  return new Set(["index.ts", ...builtIn.map((plugin: Plugin) => `${plugin.name}.ts`)]);
}
