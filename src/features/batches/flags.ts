/** The commands of batches. */
import { type CommandHead, CONNECT_FLAGS, JSON_FLAG, YES_FLAG } from "../../cli/command.ts";

const COMMON = [JSON_FLAG, ...CONNECT_FLAGS];

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
];
