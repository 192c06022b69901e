/** Tapes: `weir record` writes calls to a file, and `weir replay` answers from it without a provider. */
import { SERVE_FLAGS } from "../../cli/command.ts";
import type { Feature } from "../../feature/feature.ts";
import { TAPE_FILE, TIMINGS } from "./flags.ts";
import { tapeSection } from "./section.ts";

export const tape: Feature = {
  name: "tape",
  section: tapeSection,
  commands: [
    {
      name: "record",
      after: ["exec", "serve"],
      summary:
        "start the gateway and write its calls to a tape, for weir replay; with COMMAND, run a client and end with it",
      words: [TAPE_FILE],
      rest: "COMMAND",
      flags: SERVE_FLAGS,
      run: () => import("./record.ts"),
    },
    {
      name: "replay",
      after: ["record", "serve"],
      summary:
        "start a gateway that answers from a tape and calls no provider; with COMMAND, run a client and end with it",
      words: [TAPE_FILE],
      rest: "COMMAND",
      flags: [
        ...SERVE_FLAGS,
        {
          name: "--timing",
          value: "TIMING",
          help: "cut: answers come at once; kept: they take as long as when they were recorded (default cut)",
          completes: TIMINGS,
        },
      ],
      run: () => import("./replay.ts"),
    },
  ],
};
