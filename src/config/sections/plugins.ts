/** External plugins. */
import { resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { ConfigError, faultAt } from "../error.ts";
import { pluginFolderFault } from "../files.ts";
import { section, type Settling } from "../section.ts";
import { CLOSED, milliseconds } from "./kinds.ts";

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
    { ...CLOSED, description: "External plugins." },
  ),
  {
    faults: (written) =>
      faultAt(["plugins", "dir"], (written as { dir?: string }).dir === "" ? "dir is empty" : undefined),
    settle: (value, settling) => ({ ...value, dir: folderOf(value.dir, settling) }),
  },
);

/** @throws ConfigError for a folder that is set and missing, or that cannot be read */
function folderOf(written: string | undefined, { folderOf, originOf, locate }: Settling): string {
  const dir = resolve(folderOf("plugins.dir"), written ?? "plugins");
  const clause = pluginFolderFault(dir, written !== undefined);
  if (clause === undefined) return dir;
  const isDefault = originOf("plugins.dir") === "default";
  throw new ConfigError(isDefault ? "plugins" : locate(["plugins", "dir"]), clause, "plugins.dir");
}
