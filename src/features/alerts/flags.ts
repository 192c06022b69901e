/** The commands of alerts. */
import { type CommandHead, CONNECT_FLAGS, JSON_FLAG } from "../../cli/command.ts";

const COMMON = [JSON_FLAG, ...CONNECT_FLAGS];

export const alertsCommands: readonly CommandHead[] = [
  {
    name: "alerts list",
    after: ["audit log"],
    summary: "list the webhooks and the last alerts, with what became of each",
    words: [],
    flags: [{ name: "--last", value: "N", help: "number of alerts (default 20)" }, ...COMMON],
    run: async () => (await import("./cli.ts")).list,
  },
  {
    name: "alerts test",
    after: ["alerts list"],
    summary: "send a test to all webhooks, or to one (its id); exits with 1 if one does not take it",
    words: [{ name: "WEBHOOK", optional: true }],
    flags: COMMON,
    run: async () => (await import("./cli.ts")).test,
  },
];
