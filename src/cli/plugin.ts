/** `weir plugin new NAME` and `weir plugin list`. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { loadConfig } from "../config/load.ts";
import { didYouMean } from "../core/suggest.ts";
import { checkFolder } from "../external-plugins/inspect.ts";
import type { Plugin } from "../core/plugin.ts";
import type { LoadedPlugin } from "../gateway/routing/registry.ts";
import {
  type Command,
  CONFIG_FLAGS,
  configOptions,
  type Context,
  JSON_FLAG,
  UsageError,
  valueFlags,
} from "./command.ts";
import { table } from "./terminal.ts";
import { KINDS, type Kind, writeTemplate } from "./templates.ts";
import { weirTypes } from "./weir-types.ts";

export const pluginNew: Command = {
  name: "plugin new",
  summary: "write a working plugin, with types for the editor",
  words: [{ name: "NAME" }],
  flags: [
    ...CONFIG_FLAGS,
    {
      name: "--kind",
      value: "KIND",
      help: "host (default), format, program or hook",
      completes: KINDS,
    },
  ],
  async run(context) {
    const {
      words: [name = ""],
      flags,
      cwd,
      print,
    } = context;
    if (!/^[a-z][a-z0-9-]*$/.test(name))
      throw new UsageError(
        "a plugin's name must consist of lower-case letters, digits and dashes: weir plugin new my-host",
      );
    const kind = readKind(flags["--kind"] ?? "host");
    const { formatIds, providerNames } = await builtInNames();
    if (kind === "format" && formatIds.includes(name))
      throw new UsageError(`${name} is the name of a built-in format; choose another name`);
    const dir = pluginFolder(context);
    const file = join(dir, `${name}.ts`);
    if (existsSync(file)) throw new Error(`${relative(cwd, file)} already exists; weir wrote nothing.`);
    makeFolder(dir, cwd);
    const { text, next } = writeTemplate(kind, name);
    writeFileSync(file, text, { mode: 0o644 });
    writeFileSync(join(dir, "weir.d.ts"), weirTypes(), { mode: 0o644 });
    print(`weir wrote ${relative(cwd, file)}. ${next}`);
    if (kind !== "hook" && providerNames.includes(name))
      print(`The plugin replaces the built-in provider ${name} while its file exists.`);
    return 0;
  },
};

function readKind(word: string | true): Kind {
  const kind = KINDS.find((candidate) => candidate === word);
  if (kind) return kind;
  const hint = didYouMean(String(word), KINDS) || `; the kinds are ${KINDS.join(", ")}`;
  throw new UsageError(`unknown kind of plugin ${word}${hint}`);
}

async function builtInNames(): Promise<{ formatIds: string[]; providerNames: string[] }> {
  const { builtInFormats } = await import("../run/formats.ts");
  const { builtIn } = await import("../../plugins/index.ts");
  return {
    formatIds: builtInFormats({ systemTurns: "accept" }).map(({ id }) => id),
    providerNames: builtIn.flatMap(({ providers = [] }) => providers.map(({ name }) => name)),
  };
}

/**
 * Creates the folder with permissions under which weir loads plugins from it, whatever the umask is.
 * @throws Error when the folder already exists and others can write to it
 */
function makeFolder(dir: string, cwd: string): void {
  // With a umask of 002 the group could write to the folder, and weir refuses such folders.
  if (mkdirSync(dir, { recursive: true, mode: 0o755 }) !== undefined) return;
  try {
    checkFolder(dir);
  } catch (cause) {
    const clause = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `${relative(cwd, dir) || dir}: ${clause}; weir would not load a plugin from it. weir wrote nothing.`,
    );
  }
}

export const pluginList: Command = {
  name: "plugin list",
  summary: "list built-in and external plugins and what each contains",
  words: [],
  flags: [...CONFIG_FLAGS, JSON_FLAG],
  async run(context) {
    const { flags, env, ownPlugins, print, printError } = context;
    const { config, locate } = loadConfig(configOptions(context));
    const { assemble } = await import("../run/assemble.ts");
    const { columnsOf } = await import("../run/plugin-columns.ts");
    const { metricsOf } = await import("../run/plugin-metrics.ts");
    const { plugins, broken } = await assemble(config, env, locate, { features: ownPlugins });
    const replaced = replacedProviders(plugins);
    const listed = plugins.map(({ plugin, source, sha256 }) => ({
      name: plugin.name,
      source,
      sha256,
      providers: providersOf(plugin),
      formats: (plugin.formats ?? []).map(({ id }) => id),
      hooks: Object.keys(plugin.hooks ?? {}),
      columns: columnsOf(plugin).map(({ name }) => name),
      metrics: metricsOf(plugin).map(([, { name }]) => name),
      hasOptions: plugin.section !== undefined,
      hasCheck: plugin.check !== undefined,
      replaces: source === "built-in" ? [] : providersOf(plugin).filter((name) => replaced.has(name)),
    }));
    if (flags["--json"]) print(JSON.stringify({ plugins: listed, broken }, null, 2));
    else print(table(listed.map((plugin) => [plugin.name, contentsOf(plugin), plugin.source])));
    for (const { message } of broken) printError(`weir: ${message}`);
    return broken.length === 0 ? 0 : 1;
  },
};

function providersOf(plugin: Plugin): string[] {
  return (plugin.providers ?? []).map(({ name }) => name);
}

/** Names of built-in providers that an external plugin replaces. */
function replacedProviders(plugins: readonly LoadedPlugin[]): Set<string> {
  const namesOf = (wanted: boolean) =>
    plugins
      .filter(({ source }) => (source === "built-in") === wanted)
      .flatMap(({ plugin }) => providersOf(plugin));
  return new Set(namesOf(true)).intersection(new Set(namesOf(false)));
}

interface PluginContents {
  providers: string[];
  formats: string[];
  hooks: string[];
  columns: string[];
  metrics: string[];
  hasOptions: boolean;
  hasCheck: boolean;
  replaces: string[];
}

/** `provider groq (replaces the built-in one), hook done`. */
function contentsOf(contents: PluginContents): string {
  const mark = (name: string) => (contents.replaces.includes(name) ? " (replaces the built-in one)" : "");
  return [
    ...contents.providers.map((name) => `provider ${name}${mark(name)}`),
    ...contents.formats.map((id) => `format ${id}`),
    ...contents.hooks.map((hook) => `hook ${hook}`),
    ...contents.columns.map((name) => `column ${name}`),
    ...contents.metrics.map((name) => `metric ${name}`),
    ...(contents.hasOptions ? ["options"] : []),
    ...(contents.hasCheck ? ["check"] : []),
  ].join(", ");
}

/** The configured plugin folder. `--plugins` may name a folder that does not exist yet. */
function pluginFolder({ flags, cwd, ...context }: Context): string {
  const { "--plugins": dir, ...others } = valueFlags(flags);
  return dir === undefined
    ? loadConfig({ ...configOptions({ ...context, flags: others, cwd }) }).config.plugins.dir
    : join(cwd, dir);
}
