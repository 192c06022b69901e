/** The command `weir drill`: failures of a provider for a client, and what the client does. */
import { JSON_FLAG } from "../../cli/command.ts";
import { DEFAULT_PARALLEL, DEFAULT_SECONDS } from "./flags.ts";
import type { Feature } from "../../feature/feature.ts";

export const drill: Feature = {
  name: "drill",
  commands: [
    {
      name: "drill",
      after: ["replay", "exec", "serve"],
      summary: "run a client against failures of a provider, and judge what it does",
      words: [],
      rest: "COMMAND",
      flags: [
        { name: "--only", value: "FAULTS", help: "only these faults: a,b (names: --list)" },
        { name: "--list", help: "list the faults with what each expects of a client" },
        {
          name: "--timeout",
          value: "SECONDS",
          help: `time that the client may take for each fault (default ${DEFAULT_SECONDS}, where a client that still waits is only weak)`,
        },
        {
          name: "--parallel",
          value: "N",
          help: `faults at once (default ${DEFAULT_PARALLEL}; with --here 1)`,
        },
        {
          name: "--model",
          value: "MODEL",
          help: "model that the client asks for (default: the client's own)",
        },
        {
          name: "--here",
          help: "run the client in the working folder (default: an empty folder for each fault)",
        },
        { name: "--junit", value: "FILE", help: "write the results as a JUnit file", completes: "file" },
        { ...JSON_FLAG, help: "print the results as JSON" },
        { name: "--verbose", help: "print what the client printed where the verdict is bad" },
      ],
      run: () => import("./cli.ts"),
    },
  ],
};
