/** `weir config init`, `weir config schema` and `weir config show`. */
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { CONFIG_FILE, loadConfig } from "../config/load.ts";
import { optionsWith } from "../config/schema.ts";
import { type Command, CONFIG_FLAGS, configOptions, type Context, JSON_FLAG, valueFlags } from "./command.ts";
import { table } from "./terminal.ts";

/** Name of the schema file, which is written beside the config file for editors. */
const SCHEMA_FILE = "weir.schema.json";

/** Imported by the commands that need it, because it loads the YAML library. */
const editor = () => import("../config/editor.ts");
const writeSchema = async (sections: Context["sections"]) =>
  JSON.stringify((await editor()).editorSchema(optionsWith(sections)), null, 2);

export const configInit: Command = {
  name: "config init",
  summary: "write a commented weir.yaml, with a schema for editors",
  words: [],
  flags: CONFIG_FLAGS.filter(({ name }) => name === "--config"),
  async run({ flags, env, cwd, sections, print }) {
    const file = resolve(cwd, valueFlags(flags)["--config"] ?? (env["WEIR_CONFIG"] || CONFIG_FILE));
    const near = relative(cwd, file);
    const shown = near.startsWith("..") ? file : near;
    if (existsSync(file)) throw new Error(`${shown} already exists; weir wrote nothing.`);
    if (!existsSync(dirname(file)))
      throw new Error(`the folder ${dirname(shown)} does not exist; weir wrote nothing.`);
    writeFileSync(file, (await editor()).exampleConfig(SCHEMA_FILE, optionsWith(sections)), { flag: "wx" });
    writeFileSync(join(dirname(file), SCHEMA_FILE), `${await writeSchema(sections)}\n`);
    print(`weir wrote ${shown}, and ${SCHEMA_FILE} beside it for editors.`);
    return 0;
  },
};

export const configSchemaCommand: Command = {
  name: "config schema",
  summary: "print the JSON schema of weir.yaml",
  words: [],
  flags: [],
  async run({ sections, print }) {
    print(await writeSchema(sections));
    return 0;
  },
};

export const configShow: Command = {
  name: "config show",
  summary: "print the effective values and where each was set",
  words: [],
  flags: [
    { name: "--host", value: "HOST", help: "as for serve" },
    { name: "--port", value: "PORT", help: "as for serve" },
    ...CONFIG_FLAGS,
    JSON_FLAG,
  ],
  async run(context) {
    const { flags, print } = context;
    const { config, sources, options: all } = loadConfig(configOptions(context));
    const options = all.list.map(({ path }) => {
      const name = path.join(".");
      return { name, value: shown(name, valueAt(config, path)), from: sources[name]?.at ?? "" };
    });
    if (flags["--json"]) {
      const members = options.map(({ name, value, from }) => [name, { value: value ?? null, from }]);
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

/** Keys are shown by name, file modes in octal. Secrets print themselves as `***`. */
function shown(name: string, value: unknown): unknown {
  if (name === "keys" || name === "adminKeys") return namesOf(value);
  if (name === "admin" && hasKeys(value)) return { ...value, keys: namesOf(value.keys) };
  return name === "listen.mode" ? `0${(value as number).toString(8)}` : value;
}

function hasKeys(value: unknown): value is { keys: unknown } {
  return typeof value === "object" && value !== null && "keys" in value;
}

function namesOf(keys: unknown): string[] {
  return (keys as readonly { name: string }[]).map(({ name }) => name);
}

function asText(name: string, value: unknown): string {
  if (name === "keys" || name === "adminKeys") return (value as string[]).join(", ") || "none";
  if (value === undefined) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}
