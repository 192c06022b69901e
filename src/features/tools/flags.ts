/** The commands on tools. */
import {
  type CommandHead,
  CONFIG_FLAGS,
  CONNECT_FLAGS,
  FILTER_FLAGS,
  type Flag,
  JSON_FLAG,
  YES_FLAG,
} from "../../cli/command.ts";

const SERVER = { name: "SERVER" };
const SOME_SERVER = { ...SERVER, optional: true };
const COMMON = [JSON_FLAG, ...CONNECT_FLAGS];
const SINCE: Flag = { name: "--since", value: "TIME", help: "7d (default), 24h, or a day: 2026-11-01" };
const TAPE: Flag = {
  name: "--tape",
  value: "FILE",
  help: "read a tape of weir record in place of the books",
  completes: "file",
};
/** As `weir chat` has them. */
const CALLER: readonly Flag[] = [
  { name: "--key", value: "KEY", help: "gateway key (default WEIR_API_KEY, or the first of WEIR_API_KEYS)" },
  { name: "--url", value: "URL", help: "base URL of the gateway (default http://127.0.0.1:9347)" },
  JSON_FLAG,
];

export const toolsCommands: readonly CommandHead[] = [
  {
    name: "tools list",
    after: ["tokens revoke", "keys import", "keys list"],
    summary: "list the tools that a key may use; with SERVER, those of one server",
    words: [SOME_SERVER],
    flags: CALLER,
    run: async () => (await import("./operator/caller-cli.ts")).list,
  },
  {
    name: "tools call",
    after: ["tools list"],
    summary: "call a tool (SERVER TOOL or SERVER__TOOL) through the gateway, with arguments as JSON",
    words: [SERVER, { name: "TOOL", optional: true }, { name: "ARGUMENTS", optional: true }],
    flags: CALLER,
    run: async () => (await import("./operator/caller-cli.ts")).call,
  },
  {
    name: "tools check",
    after: ["tools call"],
    summary: "connect to the servers of the config, and print what they are; exits with 1 if one fails",
    words: [SOME_SERVER],
    flags: [...CONFIG_FLAGS, JSON_FLAG],
    run: () => import("./operator/check-cli.ts"),
  },
  {
    name: "tools pins",
    after: ["tools check"],
    summary: "list the servers with their pins; with SERVER, what it lists otherwise than it was approved",
    words: [SOME_SERVER],
    flags: COMMON,
    run: async () => (await import("./operator/cli.ts")).pins,
  },
  {
    name: "tools approve",
    after: ["tools pins"],
    summary: "show what a server lists otherwise than it was approved, ask, and approve it",
    words: [SERVER],
    flags: [
      { name: "--tool", value: "NAME", help: "only this tool", repeats: true },
      { ...YES_FLAG, help: "do not ask; without a terminal nothing is approved else" },
      ...COMMON,
    ],
    run: async () => (await import("./operator/cli.ts")).approve,
  },
  {
    name: "tools logs",
    after: ["tools approve"],
    summary: "print what the programs of a server wrote to their standard error",
    words: [SERVER],
    flags: COMMON,
    run: async () => (await import("./operator/cli.ts")).logs,
  },
  {
    name: "tools cost",
    after: ["tools logs"],
    summary: "show what tools cost in calls of models: definitions, results and uses",
    words: [],
    flags: [SINCE, ...FILTER_FLAGS, TAPE, ...COMMON],
    run: () => import("./cost/cli.ts"),
  },
  {
    name: "tools diet",
    after: ["tools cost"],
    summary: "name the tools that no call used, what they cost, and the list that leaves them out",
    words: [],
    flags: [SINCE, TAPE, ...COMMON],
    run: () => import("./cost/diet-cli.ts"),
  },
];
