/** `weir version`. */
import { VERSION } from "../version.ts";
import type { Command } from "./command.ts";

export const version: Command = {
  name: "version",
  summary: "print the version",
  words: [],
  flags: [],
  async run({ print }) {
    print(VERSION);
    return 0;
  },
};
