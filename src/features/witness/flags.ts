/** The commands of witness. */
import { type CommandHead, CONNECT_FLAGS, JSON_FLAG, YES_FLAG } from "../../cli/command.ts";

const COMMON = [JSON_FLAG, ...CONNECT_FLAGS];
const MODEL = { name: "--model", value: "MODEL", help: "model, as provider/model" };

export const witnessCommands: readonly CommandHead[] = [
  {
    name: "witness",
    after: ["probe", "check"],
    summary:
      "look at models once, print what was seen and keep it, to tell changes of providers from those of the config",
    words: [],
    flags: [
      { ...MODEL, help: "model to look at, as provider/model (default: witness.models of the config)" },
      { name: "--dry-run", help: "print what would be asked and what it costs at most; send nothing" },
      YES_FLAG,
      ...COMMON,
    ],
    run: async () => (await import("./cli.ts")).look,
  },
  {
    name: "witness list",
    after: ["witness"],
    summary: "list the last observations of models, and the changes of providers that were found",
    words: [],
    flags: [MODEL, { name: "--last", value: "N", help: "number of observations (default 20)" }, ...COMMON],
    run: async () => (await import("./cli.ts")).list,
  },
  {
    name: "witness diff",
    after: ["witness list"],
    summary:
      "say whose change it is between two observations (ids, times or days): that of the provider, or your own; exits with 1 if they differ",
    words: [{ name: "A" }, { name: "B" }],
    flags: [MODEL, ...COMMON],
    run: async () => (await import("./cli.ts")).diff,
  },
];
