/** `weir keys update`, `rotate` and `revoke`: changes of keys that exist. */
import type { KeyOption } from "../../ledger/keys/option.ts";
import type { Scopes } from "../../ledger/policy.ts";
import { type Command, UsageError } from "../command.ts";
import { bookCommand, DRY_RUN_FLAG, isDryRun } from "./command.ts";
import { scopeFlags, scopesOf, TAG_FLAG } from "./scope-flags.ts";
import { showSecret } from "./secret.ts";
import { showTime } from "./show.ts";
import { durationOf, listOf, textOf } from "./values.ts";

/** Members that `--unset` takes away, by their words. */
const UNSET: Readonly<Record<string, string>> = {
  ...{ tags: "tags", expires: "expires", models: "models", providers: "providers", endpoints: "endpoints" },
  ...{ addresses: "addresses", "max-tokens": "maxTokens", "max-cost": "maxCost" },
};

/** The words with those of options: of `--no-server-tools`, `server-tools`. */
const unsetWords = (options: readonly KeyOption[]): Readonly<Record<string, string>> => ({
  ...UNSET,
  ...Object.fromEntries(options.map(({ name, flag }) => [flag.name.replace(/^--(no-)?/, ""), name])),
});

const keysUpdate = (options: readonly KeyOption[]) => {
  const words = unsetWords(options);
  const known = Object.keys(words);
  return bookCommand({
    name: "keys update",
    summary: "change the name, path, tags, scopes or expiry of a key; what is not given stays",
    words: [{ name: "NAME" }],
    flags: [
      { name: "--name", value: "NAME", help: "new name" },
      { name: "--path", value: "PATH", help: "new place in the tree of keys" },
      TAG_FLAG,
      ...scopeFlags(options),
      { name: "--expires", value: "TIME", help: "how long it works from now on: 90d, 24h" },
      {
        name: "--unset",
        value: "WHAT",
        help: `what no longer holds: ${known.join(", ")}`,
        completes: known,
        repeats: true,
      },
    ],
    async run({ api, flags, words: [name = ""], show, warn }) {
      const params = { id: name };
      const lasts = durationOf(flags, "--expires");
      const unset = new Set(listOf(flags, "--unset")?.map((word) => unsetOf(word, words)));
      const given = scopesOf(flags, options);
      const isScoped =
        given !== undefined || [...unset].some((member) => member !== "tags" && member !== "expires");
      const change = {
        name: textOf(flags, "--name"),
        path: textOf(flags, "--path"),
        tags: listOf(flags, "--tag") ?? (unset.has("tags") ? [] : undefined),
        expiresAt: lasts !== undefined ? Date.now() + lasts : unset.has("expires") ? null : undefined,
        // The API replaces all scopes.
        scopes: isScoped
          ? scopesAfter((await api.ask("GET /keys/{id}", { params })).scopes, given, unset)
          : undefined,
      };
      if (Object.values(change).every((value) => value === undefined))
        throw new UsageError("weir keys update requires a change, such as --path /eng or --unset max-cost");
      const key = await api.ask("PATCH /keys/{id}", { params, body: change });
      warn(key);
      show(key, () => `The key ${key.name} is changed; weir keys show ${key.name} shows it.`);
    },
  });
};

/** @throws UsageError */
function unsetOf(word: string, words: Readonly<Record<string, string>>): string {
  const member = words[word];
  if (member !== undefined) return member;
  throw new UsageError(`--unset knows ${Object.keys(words).join(", ")}; "${word}" is none of them`);
}

function scopesAfter(before: Scopes, given: Scopes | undefined, unset: ReadonlySet<string>): Scopes {
  const kept = Object.entries(before).filter(([member]) => !unset.has(member));
  return { ...(Object.fromEntries(kept) as Scopes), ...given };
}

const keysRotate = bookCommand({
  name: "keys rotate",
  summary: "give a key a new text; the old one works for a grace period",
  words: [{ name: "NAME" }],
  flags: [{ name: "--grace", value: "TIME", help: "how long the old one works: 24h (default), 0s" }],
  async run(context) {
    const { api, flags, words } = context;
    const graceMs = durationOf(flags, "--grace");
    const created = await api.ask("POST /keys/{id}/rotate", {
      params: { id: words[0]! },
      body: { graceMs },
    });
    showSecret({ ...created, closed: false }, context);
    const until = created.key.rotatingUntil;
    if (until !== undefined) context.printError(`The old key works until ${showTime(until)} UTC.`);
  },
});

const keysRevoke = bookCommand({
  name: "keys revoke",
  summary: "end a key at once; running answers go on",
  words: [{ name: "NAME" }],
  flags: [{ name: "--cut", help: "also end its running answers" }, DRY_RUN_FLAG],
  asks: ({ words: [name] }) => `Revoke the key ${name}, for good?`,
  async run({ api, flags, words, show }) {
    const params = { id: words[0]! };
    const cut = flags["--cut"] === true;
    if (isDryRun(flags)) {
      const key = await api.ask("GET /keys/{id}", { params });
      const used = key.lastUsedAt === undefined ? "never used" : `last used ${showTime(key.lastUsedAt)} UTC`;
      const does =
        key.source === "config"
          ? "is one of the config file and is removed there"
          : key.state === "revoked"
            ? "is revoked already"
            : `would be revoked; its running answers would ${cut ? "end" : "go on"}`;
      return show(key, () => `The key ${key.name} (${key.id}, ${used}) ${does}.`);
    }
    const key = await api.ask("DELETE /keys/{id}", { params, query: { cut: cut || undefined } });
    show(key, () => `The key ${key.name} is revoked.`);
  },
});

const keysOpen = bookCommand({
  name: "keys open",
  summary: "let calls without a key in again, when no key is valid any more",
  asks: () => "Let calls without a key in, on addresses that only this machine can reach?",
  async run({ api, show }) {
    const opened = await api.ask("POST /access/open");
    show(opened, () => "Calls on loopback need no key, until the next key is created.");
  },
});

/** @param options of keys in this build */
export const keyChanges = (options: readonly KeyOption[]): readonly Command[] => [
  keysUpdate(options),
  ...[keysRotate, keysRevoke, keysOpen],
];
