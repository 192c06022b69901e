/** Runs: the calls of models and tools of one job, replayed, gone on from with another model, and compared. */
import { JSON_FLAG, SERVE_FLAGS } from "../../cli/command.ts";
import type { Feature } from "../../feature/feature.ts";
import { RUN } from "./flags.ts";

export const runs: Feature = {
  name: "runs",
  keeper: () => import("./keeper.ts"),
  admin: () => import("./admin.ts"),
  commands: [
    {
      name: "fork",
      after: ["replay", "record", "serve"],
      summary:
        "go on from a call of a recorded run with another model: what was before comes from the tape; with COMMAND, run the client of the run and end with it",
      words: [RUN],
      rest: "COMMAND",
      flags: [
        {
          name: "--at",
          value: "N",
          help: "number of the first call that is not taken from the tape; weir runs RUN lists them",
        },
        { name: "--model", value: "MODEL", help: "the model that answers from there on" },
        {
          name: "--tools",
          value: "RULE",
          help: "tools from there on. tape: only what is on the tape; readonly: also those that their servers mark readOnlyHint run; live: all run (default readonly)",
        },
        {
          name: "--out",
          value: "FILE",
          help: "where the fork is recorded (default: under an id of its own in the state folder)",
          completes: "file",
        },
        ...SERVE_FLAGS,
      ],
      run: () => import("./fork/cli.ts"),
    },
    {
      name: "runs",
      after: ["fork", "replay", "serve"],
      summary: "list the runs in the state folder, or the calls of RUN and its forks side by side, with cost",
      words: [{ ...RUN, optional: true }],
      flags: [
        {
          name: "--state",
          value: "DIR",
          help: "the state folder (default: that of weir.yaml)",
          completes: "folder",
        },
        {
          name: "--config",
          value: "FILE",
          help: "config file that names the state folder",
          completes: "file",
        },
        JSON_FLAG,
      ],
      run: () => import("./list/cli.ts"),
    },
  ],
};
