/** `weir console`: a link that opens the console, signed in. */
import type { SignInLink } from "../../operator/index.ts";
import { bookCommand } from "./command.ts";

export const consoleCommand = bookCommand({
  name: "console",
  summary: "print a link that opens the console, signed in; it works once, within ten minutes",
  async run({ api, flags, show }) {
    if (flags["--state"] !== undefined)
      throw new Error("the console is a page of a running gateway; start one with weir serve");
    const link = await api.ask("POST /session/link");
    show(link, () => link.url);
  },
});
