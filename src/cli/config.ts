/** `weir config schema` and `weir config show`. */
import { loadConfig } from "../config/load.ts";
import { fileSchema, listOptions } from "../config/schema.ts";
import type { Command } from "./command.ts";
import { CONFIG_FLAGS, JSON_FLAG, valueFlags } from "./command.ts";
import { table } from "./terminal.ts";

export const configSchemaCommand: Command = {
  name: "config schema",
  summary: "print the JSON schema of weir.yaml",
  words: [],
  flags: [],
  async run({ print }) {
    print(JSON.stringify(fileSchema(), null, 2));
    return 0;
  },
};

export const configShow: Command = {
  name: "config show",
  summary: "print the effective values and where each came from",
  words: [],
  flags: [
    { name: "--host", value: "HOST", help: "as for serve" },
    { name: "--port", value: "PORT", help: "as for serve" },
    ...CONFIG_FLAGS,
    JSON_FLAG,
  ],
  async run({ flags, env, cwd, print }) {
    const { config, sources } = loadConfig({ flags: valueFlags(flags), env, cwd });
    const options = listOptions().map(({ path }) => {
      const name = path.join(".");
      return { name, value: shown(name, valueAt(config, path)), from: sources[name]?.at ?? "" };
    });
    if (flags["--json"]) {
      const members = options.map(({ name, value, from }) => [name, { value, from }]);
      print(JSON.stringify(Object.fromEntries(members), null, 2));
    } else print(table(options.map(({ name, value, from }) => [name, asText(name, value), from])));
    return 0;
  },
};

function valueAt(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (value as Record<string, unknown> | undefined)?.[step],
    config,
  );
}

/** Keys are shown by name; secrets print as `***` by themselves. */
function shown(name: string, value: unknown): unknown {
  return name === "keys" ? (value as { name: string }[]).map((key) => key.name) : value;
}

function asText(name: string, value: unknown): string {
  if (name === "keys") return (value as string[]).join(", ") || "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}
