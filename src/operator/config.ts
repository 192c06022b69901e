/** The config that runs, where each value comes from, and what a reload would change. */
import { answer, time, words } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";

export const ConfigOption = answer({
  path: Type.String({ description: "`limits.bodyBytes`, `providers.openai.baseUrl`." }),
  value: Type.Unknown({ description: "Secrets are `***`." }),
  default: Type.Optional(Type.Unknown({ description: "Absent: the option has none." })),
  isDefault: Type.Boolean(),
  source: words(["default", "file", "environment", "flag"]),
  where: Type.Optional(
    Type.String({
      description:
        "`weir.yaml:31`, with the places in all files that set a part of it; name of the variable, or name of the flag.",
    }),
  ),
});
export type ConfigOption = Static<typeof ConfigOption>;

export const ConfigChange = answer({
  path: Type.String(),
  running: Type.Optional(Type.Unknown()),
  onDisk: Type.Optional(Type.Unknown()),
  needsRestart: Type.Boolean(),
});
export type ConfigChange = Static<typeof ConfigChange>;

export const EffectiveConfig = answer({
  file: Type.Optional(Type.String({ description: "Path of the file; absent: weir runs without one." })),
  loadedAt: time("The start, or the last reload."),
  options: Type.Array(ConfigOption, { description: "Those that differ from their default first." }),
  changes: Type.Array(ConfigChange, {
    description: "What a reload would change; options that need a restart say so.",
  }),
  fault: Type.Optional(
    Type.String({ description: "Why the file on the disk cannot be loaded. One sentence." }),
  ),
});
export type EffectiveConfig = Static<typeof EffectiveConfig>;

export const ConfigSource = answer({
  file: Type.String(),
  text: Type.String({ description: "The file as it is on the disk; values of secrets are `***`." }),
  included: Type.Array(answer({ file: Type.String(), text: Type.String() }), {
    description: "The files that it includes, in the order in which weir reads them, in the same form.",
  }),
});
export type ConfigSource = Static<typeof ConfigSource>;

export const Reloaded = answer({
  ok: Type.Boolean(),
  message: Type.String({ description: "One sentence." }),
});
export type Reloaded = Static<typeof Reloaded>;

export const getConfig = contract({
  method: "GET",
  path: "/admin/v1/config",
  id: "getConfig",
  summary: "The options in effect, where each comes from, and what a reload would change",
  needs: { role: "read", on: "gateway" },
  answer: { name: "EffectiveConfig", schema: EffectiveConfig },
  errors: ["gateway_failed"],
});

export const getConfigSource = contract({
  method: "GET",
  path: "/admin/v1/config/source",
  id: "getConfigSource",
  summary: "The config file as it is on the disk, without secrets",
  needs: { role: "read", on: "gateway" },
  answer: { name: "ConfigSource", schema: ConfigSource },
  errors: ["gateway_failed"],
});

export const reloadConfig = contract({
  method: "POST",
  path: "/admin/v1/config/reload",
  id: "reloadConfig",
  summary: "Reloads the config and the plugins, as SIGHUP does",
  needs: { role: "admin", on: "gateway" },
  alone: true,
  answer: { name: "Reloaded", schema: Reloaded },
  errors: ["gateway_failed"],
});
