/** The commands of secrets. */
import { type CommandHead, CONNECT_FLAGS, JSON_FLAG } from "../../cli/command.ts";

export const secretsCommands: readonly CommandHead[] = [
  {
    name: "secrets",
    after: ["config show", "reload"],
    summary: "list the secrets to which the config refers, with store, version and age; never their values",
    words: [],
    flags: [JSON_FLAG, ...CONNECT_FLAGS],
    run: async () => (await import("./cli.ts")).list,
  },
  {
    name: "secrets rekey",
    after: ["secrets"],
    summary: "seal what the store keeps with store.sealKey in place of the keys before",
    words: [],
    flags: [JSON_FLAG, ...CONNECT_FLAGS],
    run: async () => (await import("./cli.ts")).rekey,
  },
];
