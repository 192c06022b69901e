/** The command `weir probe`: a few calls find out what a host can do. */
import { CONFIG_FLAGS, JSON_FLAG, YES_FLAG } from "../../cli/command.ts";
import type { Feature } from "../../feature/feature.ts";

export const probe: Feature = {
  name: "probe",
  commands: [
    {
      name: "probe",
      after: ["check"],
      summary:
        "find out with a few calls what a host (a base URL, or a provider) can do, and print it for weir.yaml",
      words: [{ name: "HOST" }],
      flags: [
        {
          name: "--model",
          value: "MODEL",
          help: "model to ask (default: the first text model of the host's list)",
        },
        {
          name: "--api-key-env",
          value: "NAME",
          help: "environment variable with the key for a base URL (default: no key)",
        },
        { name: "--dry-run", help: "print what would be asked and what it costs at most; send nothing" },
        YES_FLAG,
        { name: "--out", value: "FILE", help: "write the block to a new file", completes: "file" },
        JSON_FLAG,
        ...CONFIG_FLAGS,
      ],
      run: () => import("./cli.ts"),
    },
  ],
};
