/** External plugins. */
import { resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { isObject } from "../../core/json.ts";
import { suggest } from "../../core/suggest.ts";
import { ConfigError, type Fault, faultAt } from "../error.ts";
import { pluginFolderFault } from "../files.ts";
import { section, type Settling } from "../section.ts";
import { milliseconds } from "./kinds.ts";

/** Options of a plugin. Their texts may be secrets, which only the schema of the plugin knows. */
const ofPlugin = Type.Unknown({ writeOnly: true });

export const plugins = section(
  "plugins",
  Type.Object(
    {
      dir: Type.String({
        description:
          "Folder of the external plugins. Default: `plugins/` beside the config file, or in the working directory when there is no config file.",
        "x-path": true,
        examples: ["plugins"],
        "x-flag": "--plugins",
        "x-env": "WEIR_PLUGINS",
      }),
      allow: Type.Array(
        Type.String({ pattern: "^[0-9a-f]{64}$", "x-expects": "64 lower-case hexadecimal digits" }),
        {
          default: [],
          description:
            "SHA-256 digests of the plugin files that weir may load (`sha256sum plugins/*`). Empty: every file in the folder.",
        },
      ),
      strict: Type.Optional(
        Type.Boolean({
          description:
            "Refuse to start when a plugin cannot be loaded. `false`: start without it. Default: refuse if it may have `admit`, `intercept`, `request` or `answer` hooks.",
        }),
      ),
      loadMs: milliseconds(
        5_000,
        "Maximum time to import a plugin, in milliseconds. A plugin that takes longer is not loaded.",
      ),
    },
    {
      additionalProperties: ofPlugin,
      description:
        "External plugins. Under the name of a plugin: its own options, by the schema that it brings.",
    },
  ),
  {
    faults: pluginFaults,
    settle: (value, settling) => ({ ...value, dir: folderOf(value.dir, settling) }),
  },
);

/** Options of `plugins` itself; any other member is the name of a plugin. */
const OWN: readonly string[] = Object.keys(plugins.schema.properties);

/** The options of plugins, by their names. */
export function optionsOfPlugins(value: Static<typeof plugins.schema>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !OWN.includes(name)));
}

function pluginFaults(written: unknown): Fault[] {
  const members = written as Record<string, unknown>;
  return [
    ...faultAt(["plugins", "dir"], members["dir"] === "" ? "dir is empty" : undefined),
    ...Object.entries(members).flatMap(([name, value]) => {
      if (OWN.includes(name) || isObject(value)) return [];
      const near = suggest(name, OWN);
      const hint = near === undefined ? "; options of a plugin are a group" : `, did you mean ${near}?`;
      return faultAt(["plugins", name], `unknown option ${name}${hint}`);
    }),
  ];
}

/** @throws ConfigError for a folder that is set and missing, or that cannot be read */
function folderOf(written: string | undefined, { folderOf, originOf, locate }: Settling): string {
  const dir = resolve(folderOf("plugins.dir"), written ?? "plugins");
  const clause = pluginFolderFault(dir, written !== undefined);
  if (clause === undefined) return dir;
  const isDefault = originOf("plugins.dir") === "default";
  throw new ConfigError(isDefault ? "plugins" : locate(["plugins", "dir"]), clause, "plugins.dir");
}
