/** `weir secrets`: what the running gateway knows of its secrets, without their values. */
import { runConnected } from "../../cli/books/command.ts";
import type { Command } from "../../cli/command.ts";
import { table } from "../../cli/terminal.ts";
import type { SecretList } from "./contracts.ts";
import { showDuration } from "./declarations.ts";

export const list: Pick<Command, "run"> = {
  run: (context) =>
    runConnected(context, async ({ api, show }) => {
      const view = await api.send<SecretList>("GET", "/secrets");
      show(view, () => textOf(view, Date.now()));
      return view.secrets.some(({ fault }) => fault !== undefined) ? 1 : 0;
    }),
};

function textOf({ secrets }: SecretList, now: number): string {
  if (secrets.length === 0) return "the config refers to no secret";
  const rows = secrets.map(({ reference, version = "", readAt, nextAt, usedBy, fault }) => [
    reference,
    version,
    readAt === undefined ? "never" : showDuration(now - readAt),
    showDuration(nextAt - now),
    usedBy.join(", "),
    fault ?? "",
  ]);
  return table([["REFERENCE", "VERSION", "AGE", "NEXT", "USED BY", "FAULT"], ...rows]);
}
