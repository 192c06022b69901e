/** `weir admin key create`: a key for the admin API. */
import { bookCommand } from "./command.ts";
import { showSecret } from "./secret.ts";
import { durationOf, textOf } from "./values.ts";

export const adminKeyCreate = bookCommand({
  name: "admin key create",
  summary: "create a key for the admin API; prints it once",
  words: [{ name: "NAME" }],
  flags: [
    { name: "--read", help: "a key that cannot change anything" },
    { name: "--path", value: "PATH", help: "it sees and changes only what is on this path and below" },
    { name: "--expires", value: "TIME", help: "how long it works: 90d, 24h" },
  ],
  async run(context) {
    const { api, flags, words } = context;
    const lasts = durationOf(flags, "--expires");
    const created = await api.ask("POST /keys", {
      body: {
        name: words[0]!,
        kind: flags["--read"] ? "read" : "admin",
        path: textOf(flags, "--path"),
        expiresAt: lasts === undefined ? undefined : Date.now() + lasts,
      },
    });
    showSecret(created, context);
  },
});
