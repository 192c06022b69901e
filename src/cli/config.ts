/** `weir config schema` and `weir config show`. */
import { loadConfig } from "../config/load.ts";
import { fileSchema, listOptions } from "../config/schema.ts";
import type { Command } from "./command.ts";
import { CONFIG_FLAGS, valueFlags } from "./command.ts";
import { table } from "./terminal.ts";

export const configSchemaCommand: Command = {
  name: "config schema",
  summary: "print the JSON schema of weir.yaml",
  usage: "",
  flags: [],
  async run({ print }) {
    print(JSON.stringify(fileSchema(), null, 2));
    return 0;
  },
};

export const configShow: Command = {
  name: "config show",
  summary: "print the effective values and where each came from",
  usage: "",
  flags: [
    { name: "--host", value: "HOST", help: "as for serve" },
    { name: "--port", value: "PORT", help: "as for serve" },
    ...CONFIG_FLAGS,
  ],
  async run({ flags, env, cwd, print }) {
    const { config, sources } = loadConfig({ flags: valueFlags(flags), env, cwd });
    const rows = listOptions().map(({ path }) => {
      const name = path.join(".");
      return [name, shown(name, valueAt(config, path)), sources[name]?.at ?? ""];
    });
    print(table(rows));
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
function shown(name: string, value: unknown): string {
  if (name === "keys") return `${(value as { name: string }[]).map((key) => key.name).join(", ") || "none"}`;
  return typeof value === "string" ? value : JSON.stringify(value);
}
