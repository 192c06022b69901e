/** The commands of files. */
import { type CommandHead, CONNECT_FLAGS, JSON_FLAG } from "../../cli/command.ts";

const COMMON = [JSON_FLAG, ...CONNECT_FLAGS];

export const filesCommands: readonly CommandHead[] = [
  {
    name: "files list",
    after: ["store release", "store prune"],
    summary: "list the files that clients keep in weir, or those of a path and below",
    words: [{ name: "PATH", optional: true }],
    flags: [{ name: "--last", value: "N", help: "number of files (default 100)" }, ...COMMON],
    run: async () => (await import("./cli.ts")).list,
  },
  {
    name: "files show",
    after: ["files list"],
    summary: "show what is known of a file; nothing shows what is in it",
    words: [{ name: "FILE" }],
    flags: COMMON,
    run: async () => (await import("./cli.ts")).show,
  },
  {
    name: "files delete",
    after: ["files show"],
    summary: "delete a file of a client",
    words: [{ name: "FILE" }],
    flags: COMMON,
    run: async () => (await import("./cli.ts")).remove,
  },
];
