/** The command `weir import`: the config of another gateway as `weir.yaml`. */
import type { Feature } from "../../feature/feature.ts";

export const importConfigs: Feature = {
  name: "import",
  commands: [
    {
      name: "import",
      after: ["plugin list"],
      summary: "write weir.yaml from the config of another gateway, and list what has no counterpart",
      words: [
        { name: "SOURCE", completes: ["litellm", "bifrost", "ccr", "portkey"] },
        { name: "FILE", completes: "file" },
      ],
      flags: [
        {
          name: "--out",
          value: "FILE",
          help: "write to this file (default: standard output)",
          completes: "file",
        },
        {
          name: "--keys",
          value: "FILE",
          help: "keys of LiteLLM: the answer to /key/list",
          completes: "file",
        },
        {
          name: "--env",
          value: "FILE",
          help: "write the secrets of the source to this file",
          completes: "file",
        },
        { name: "--strict", help: "exit with 1 if something has no counterpart" },
        { name: "--force", help: "replace files that exist" },
        { name: "--json", help: "print the config and the report as JSON" },
      ],
      otherWords: { words: ["migrate", "convert"], hint: "weir import SOURCE FILE for configs" },
      run: () => import("./cli.ts"),
    },
  ],
};
