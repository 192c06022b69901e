/** Flags of commands that show and delete what was captured. */
import type { Flag } from "../../cli/command.ts";

export const body: Flag = {
  name: "--body",
  help: "with --call: what the client asked and got, if it was captured",
};

export const bodies: Flag = {
  name: "--bodies",
  help: "delete the captured requests and answers instead",
};
