/** `weir version`. */
import { VERSION } from "../process/version.ts";
import { type Command, JSON_FLAG } from "./command.ts";

export const version: Command = {
  name: "version",
  summary: "print the version",
  words: [],
  flags: [JSON_FLAG],
  async run({ flags, print }) {
    print(flags["--json"] ? JSON.stringify({ version: VERSION }) : VERSION);
    return 0;
  },
};
