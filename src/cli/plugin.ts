/** `weir plugin new NAME` and `weir plugin list`. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { loadConfig } from "../config/load.ts";
import type { Command } from "./command.ts";
import { CONFIG_FLAGS, JSON_FLAG, UsageError, valueFlags } from "./command.ts";
import { table } from "./terminal.ts";
import { weirTypes } from "./weir-types.ts";

export const pluginNew: Command = {
  name: "plugin new",
  summary: "write a working plugin, with types for the editor",
  words: [{ name: "NAME" }],
  flags: CONFIG_FLAGS,
  async run({ words, flags, env, cwd, print }) {
    const [name] = words;
    if (name === undefined || !/^[a-z][a-z0-9-]*$/.test(name))
      throw new UsageError(
        "a plugin's name is lower-case letters, digits and dashes: weir plugin new my-host",
      );
    const dir = pluginFolder(flags, env, cwd);
    const file = join(dir, `${name}.ts`);
    if (existsSync(file)) throw new Error(`${relative(cwd, file)} is there already; nothing was written.`);
    mkdirSync(dir, { recursive: true });
    writeFileSync(file, template(name), { mode: 0o644 });
    writeFileSync(join(dir, "weir.d.ts"), weirTypes, { mode: 0o644 });
    print(
      `${relative(cwd, file)} is written. Set its address and start weir; models are named ${name}/MODEL.`,
    );
    return 0;
  },
};

export const pluginList: Command = {
  name: "plugin list",
  summary: "list built-in and dropped plugins and what each brings",
  words: [],
  flags: [...CONFIG_FLAGS, JSON_FLAG],
  async run({ flags, env, cwd, print, printError }) {
    const { config } = loadConfig({ flags: valueFlags(flags), env, cwd });
    const { assemble } = await import("../assemble.ts");
    const { plugins, broken } = await assemble(config, env);
    const listed = plugins.map(({ plugin, source, sha256 }) => ({
      name: plugin.name,
      source,
      sha256,
      providers: (plugin.providers ?? []).map(({ name }) => name),
      formats: (plugin.formats ?? []).map(({ id }) => id),
      hooks: Object.keys(plugin.hooks ?? {}),
    }));
    if (flags["--json"]) print(JSON.stringify({ plugins: listed, broken }, null, 2));
    else print(table(listed.map((plugin) => [plugin.name, broughtBy(plugin), plugin.source])));
    for (const { message } of broken) printError(`weir: ${message}`);
    return broken.length === 0 ? 0 : 1;
  },
};

/** `provider groq, hook done`. */
function broughtBy(brought: { providers: string[]; formats: string[]; hooks: string[] }): string {
  return [
    ...brought.providers.map((name) => `provider ${name}`),
    ...brought.formats.map((id) => `format ${id}`),
    ...brought.hooks.map((hook) => `hook ${hook}`),
  ].join(", ");
}

/** The folder the config names; the one to be made may not exist yet. */
function pluginFolder(
  flags: Parameters<typeof valueFlags>[0],
  env: Record<string, string | undefined>,
  cwd: string,
): string {
  const { "--plugins": dir, ...others } = valueFlags(flags);
  return dir === undefined ? loadConfig({ flags: others, env, cwd }).config.plugins.dir : join(cwd, dir);
}

function template(name: string): string {
  const variable = name.toUpperCase().replaceAll("-", "_");
  return `import { definePlugin, chatCompletions } from "weir";

// Models are named ${name}/MODEL. The key comes from ${variable}_API_KEY, another address from ${variable}_BASE_URL.
export default definePlugin({
  name: "${name}",
  providers: [
    chatCompletions({
      name: "${name}",
      models: ["${name}/*"],
      baseUrl: "https://api.example.com/v1",
      apiKey: "${variable}_API_KEY",
    }),
  ],
});
`;
}
