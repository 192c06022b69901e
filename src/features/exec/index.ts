/** The command `weir exec`: runs a client with the gateway in front of it. */
import { SERVE_FLAGS } from "../../cli/command.ts";
import { OWN_FLAGS } from "./flags.ts";
import type { Feature } from "../../feature/feature.ts";

export const exec: Feature = {
  name: "exec",
  commands: [
    {
      name: "exec",
      after: ["serve"],
      summary:
        "run a client, such as claude, codex or a program with an SDK, with the gateway in front of it",
      words: [],
      rest: "COMMAND",
      needsRest: true,
      flags: [
        {
          name: "--model",
          value: "MODEL",
          help: "the model that the client asks for (default: its own choice)",
        },
        {
          name: "--url",
          value: "URL",
          help: "base URL of the gateway (default: WEIR_URL, the gateway that this user runs, or one that ends with the client)",
        },
        {
          name: "--port",
          value: "PORT",
          help: "port of the gateway; weir starts one there if none runs (0: a free port)",
        },
        ...SERVE_FLAGS.filter(({ name }) => OWN_FLAGS.includes(name)),
      ],
      otherWords: { words: ["run", "launch"], hint: "weir exec -- COMMAND for a client" },
      run: () => import("./cli.ts"),
    },
  ],
};
