/** The commands of batches. */
import {
  type CommandHead,
  CONFIG_FLAGS,
  CONNECT_FLAGS,
  type Flag,
  FORMATS,
  JSON_FLAG,
  YES_FLAG,
} from "../../cli/command.ts";

const COMMON = [JSON_FLAG, ...CONNECT_FLAGS];

const FORMAT: Flag = {
  name: "--format",
  value: "FORMAT",
  help: "what lines without a url ask: messages, responses, embeddings, a path (default: that of the first line)",
  completes: FORMATS,
};

export const batchesCommands: readonly CommandHead[] = [
  {
    name: "batches list",
    after: ["files delete", "audit log"],
    summary: "list the batches of clients with progress and cost, the newest first",
    words: [],
    flags: [
      { name: "--status", value: "STATUS", help: "only batches that are checking, running, paused, done, …" },
      { name: "--path", value: "PATH", help: "only batches of this path and below" },
      { name: "--key", value: "KEY", help: "only batches of this key (its id or name)" },
      { name: "--last", value: "N", help: "number of batches (default 20)" },
      ...COMMON,
    ],
    run: async () => (await import("./cli.ts")).list,
  },
  {
    name: "batches show",
    after: ["batches list"],
    summary: "show a batch: lines, tokens, cost, faults of its input, and who runs it",
    words: [{ name: "ID" }],
    flags: COMMON,
    run: async () => (await import("./cli.ts")).show,
  },
  {
    name: "batches cancel",
    after: ["batches show"],
    summary: "cancel a batch: running lines end, and results are kept",
    words: [{ name: "ID" }],
    flags: [YES_FLAG, ...COMMON],
    run: async () => (await import("./cli.ts")).cancel,
  },
  {
    name: "batches retry",
    after: ["batches cancel"],
    summary: "make a new batch of the lines that failed of one that has ended",
    words: [{ name: "ID" }],
    flags: [{ name: "--failed", help: "the lines without an answer, which weir demands" }, ...COMMON],
    run: async () => (await import("./cli.ts")).retry,
  },
  {
    name: "batches run",
    after: ["batches retry"],
    summary: "run a file of lines without a gateway; the same command again goes on where it was interrupted",
    words: [{ name: "FILE", completes: "file" }],
    flags: [
      { name: "--model", value: "MODEL", help: "model of lines that name none" },
      FORMAT,
      { name: "--out", value: "FILE", help: "file of the answers (default: beside FILE)", completes: "file" },
      { name: "--budget", value: "AMOUNT", help: "dollars that all lines together may cost: 5, 0.25" },
      {
        name: "--how",
        value: "HOW",
        help: "auto, native (batch APIs of providers) or run (weir runs all lines); default: that of the config",
        completes: ["auto", "native", "run"],
      },
      { name: "--fresh", help: "forget an earlier run of FILE: all lines run, and are paid, again" },
      {
        name: "--state",
        value: "DIR",
        help: "state folder, in which the journal lies",
        completes: "folder",
      },
      JSON_FLAG,
      ...CONFIG_FLAGS,
    ],
    run: async () => (await import("./local/run.ts")).run,
  },
  {
    name: "batches wait",
    after: ["batches run"],
    summary: "wait until a batch has ended; exit code 0 if all its lines succeeded",
    words: [{ name: "ID" }],
    flags: [
      {
        name: "--timeout",
        value: "SECONDS",
        help: "longest wait; then the exit code is 124",
      },
      ...COMMON,
    ],
    run: async () => (await import("./wait.ts")).wait,
  },
  {
    name: "batches price",
    after: ["batches wait"],
    summary:
      "show what the lines of a file would cost with several models, and in batches of their providers",
    words: [{ name: "FILE", completes: "file" }],
    flags: [
      {
        name: "--models",
        value: "PATTERNS",
        help: "names of models, with commas between them (default: those of the lines)",
      },
      FORMAT,
      {
        name: "--output",
        value: "TOKENS",
        help: "output to expect of each line (default: all that it permits)",
      },
      JSON_FLAG,
      ...CONFIG_FLAGS,
    ],
    run: async () => (await import("./local/price.ts")).price,
  },
];
