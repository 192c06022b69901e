/** `weir secrets`: what the running gateway knows of its secrets, without their values. */
import { runConnected } from "../../cli/books/command.ts";
import type { Command } from "../../cli/command.ts";
import { table } from "../../cli/terminal.ts";
import type { Rekeyed, SecretList } from "./contracts.ts";
import { showDuration } from "./declarations.ts";

export const list: Pick<Command, "run"> = {
  run: (context) =>
    runConnected(context, async ({ api, show }) => {
      const view = await api.send<SecretList>("GET", "/secrets");
      show(view, () => textOf(view, Date.now()));
      return view.secrets.some(({ fault }) => fault !== undefined) ? 1 : 0;
    }),
};

export const rekey: Pick<Command, "run"> = {
  run: (context) =>
    runConnected(context, async ({ api, show }) => {
      const done = await api.send<Rekeyed>("POST", "/secrets/rekey");
      const { rewrapped, current, unreadable } = done;
      show(done, () =>
        [
          `${rewrapped} secrets of the store have the key of now, ${current} had it before`,
          ...(unreadable > 0 ? [`${unreadable} are sealed with a key that is not in store.oldSealKeys`] : []),
        ].join("\n"),
      );
      return unreadable > 0 ? 1 : 0;
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
