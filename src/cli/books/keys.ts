/** `weir keys`: makes, lists and ends the keys of clients. */
import { type Command, type Flag, UsageError } from "../command.ts";
import type { KeyOption } from "../../ledger/keys/option.ts";
import { table } from "../terminal.ts";
import { listAll } from "./api.ts";
import { type BookContext, bookCommand } from "./command.ts";
import { keyChanges } from "./key-changes.ts";
import { RATE_FLAGS, ratesOf, showRates } from "./rate-flags.ts";
import { scopeFlags, scopesOf, TAG_FLAG } from "./scope-flags.ts";
import { showSecret } from "./secret.ts";
import type { Key } from "../../operator/index.ts";
import { showLimit, showModels, showMoney, showSubject, showTime } from "./show.ts";
import { durationOf, listOf, readBudget, textOf } from "./values.ts";

export const MODE_FLAGS: readonly Flag[] = [
  { name: "--hard", help: "the most that a call can cost must be left of the budget" },
  { name: "--soft", help: "a call is admitted while anything is left of the budget" },
  { name: "--watch", help: "the budget only counts, and refuses no call" },
];

const keysCreate = (options: readonly KeyOption[]) =>
  bookCommand({
    name: "keys create",
    summary: "create a key; prints it once",
    words: [{ name: "NAME" }],
    flags: [
      { name: "--path", value: "PATH", help: "place in the tree of keys: /eng/search (default /)" },
      { name: "--budget", value: "AMOUNT", help: "dollars that it may spend: 50/month, 2/day, 10/5h, 100" },
      ...MODE_FLAGS,
      ...RATE_FLAGS,
      ...scopeFlags(options),
      { name: "--expires", value: "TIME", help: "how long it works: 90d, 24h" },
      TAG_FLAG,
    ],
    async run(context) {
      const { api, flags, words } = context;
      const budget = textOf(flags, "--budget");
      const mode = modeOf(flags);
      if (mode !== undefined && budget === undefined)
        throw new UsageError(`--${mode} belongs to a budget; give one with --budget`);
      const lasts = durationOf(flags, "--expires");
      const created = await api.ask("POST /keys", {
        body: {
          name: words[0]!,
          path: textOf(flags, "--path"),
          tags: listOf(flags, "--tag"),
          scopes: scopesOf(flags, options),
          expiresAt: lasts === undefined ? undefined : Date.now() + lasts,
          budget: budget === undefined ? undefined : { ...readBudget(budget, "--budget"), mode },
          rates: ratesOf(flags),
        },
      });
      showSecret(created, context);
    },
  });

const keysList = bookCommand({
  name: "keys list",
  summary: "list the keys",
  flags: [
    { name: "--path", value: "PATH", help: "only keys on this path and below" },
    { name: "--revoked", help: "also revoked keys" },
  ],
  async run({ api, flags, show }) {
    const query = { path: textOf(flags, "--path"), revoked: flags["--revoked"] === true, limits: true };
    const keys = await listAll(api, "GET /keys", "keys", query);
    show(keys, () => (keys.length === 0 ? "There are no keys." : keyTable(keys)));
  },
});

type KeyLimits = NonNullable<Key["limits"]>;

function keyTable(keys: readonly Key[]): string {
  const rows = keys.map((key) => [
    key.name,
    key.id,
    key.kind,
    key.path,
    key.state,
    showTime(key.expiresAt) || "never",
    showTime(key.lastUsedAt) || "never",
    showMoney(key.limits?.spent),
    ownOf(key).budgets,
    ownOf(key).rates,
    key.hint ?? "",
  ]);
  const head = [
    "name",
    "id",
    "kind",
    "path",
    "state",
    "expires",
    "last used",
    "spent (30 d)",
    "budget",
    "rates",
    "key",
  ];
  return table([head, ...rows]);
}

/** The budgets and rate limits that are the key's alone: `$3.10 of $50.00 a month`. */
function ownOf({ id, limits }: Key): { budgets: string; rates: string } {
  const isOwn = ({ on }: KeyLimits["budgets" | "rates"][number]) => on.kind === "key" && on.what === id;
  const budgets = limits?.budgets.filter(isOwn).map(spentOf) ?? [];
  const rates = limits?.rates.filter(isOwn).map((rate) => showRates(rate.limits)) ?? [];
  return { budgets: budgets.join("; "), rates: rates.join("; ") };
}

function spentOf({ spent, limit, window }: KeyLimits["budgets"][number]): string {
  return `${showMoney(spent)} of ${showLimit(limit, window)}`;
}

const keysShow = bookCommand({
  name: "keys show",
  summary: "show what a key may do, what limits it, and what it has spent",
  words: [{ name: "NAME" }],
  async run({ api, words, show, warn }) {
    const key = await api.ask("GET /keys/{id}", {
      params: { id: words[0]! },
      query: { limits: true },
    });
    show(key, () => table(factsOf(key)));
    warn(key);
  },
});

function factsOf(key: Key): [string, string][] {
  const facts: [string, string | undefined][] = [
    ["name", key.name],
    ["id", key.id],
    ["kind", key.kind],
    ["path", key.path],
    ["tags", key.tags.join(", ")],
    ["state", key.state],
    ["from", key.source === "config" ? "the config file" : "the store"],
    ["key", key.hint],
    ["created", [showTime(key.createdAt), key.createdBy && `by ${key.createdBy}`].filter(Boolean).join(" ")],
    ["last used", showTime(key.lastUsedAt)],
    ["expires", showTime(key.expiresAt)],
    ["revoked", showTime(key.revokedAt)],
    ["old key works until", showTime(key.rotatingUntil)],
    ...Object.entries(key.scopes).map(([name, value]): [string, string] => [
      name,
      name === "maxCost"
        ? showMoney(value as number)
        : Array.isArray(value)
          ? value.map((text: string) => (name === "models" ? showModels(text, key.sets) : text)).join(", ")
          : String(value),
    ]),
    ...limitFacts(key),
  ];
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
}

/** The budgets and limits that count all its calls, also those that others share. */
function limitFacts({ id, name, limits }: Key): [string, string][] {
  if (!limits) return [];
  const names = new Map([[id, name]]);
  return [
    ["spent in 30 days", showMoney(limits.spent)],
    ...limits.budgets.map((budget): [string, string] => {
      const resets = budget.resetsAt === undefined ? "" : `, resets ${showTime(budget.resetsAt)} UTC`;
      const of = `${spentOf(budget)}, ${budget.mode}, ${showMoney(budget.left)} left${resets}`;
      return [`budget ${budget.name}`, `${of} (${showSubject(budget.on, names)})`];
    }),
    ...limits.rates.map(({ name: rate, on, limits: most }): [string, string] => [
      `rate ${rate}`,
      `${showRates(most)} (${showSubject(on, names)})`,
    ]),
  ];
}

/** @throws UsageError if more than one is given */
export function modeOf(flags: BookContext["flags"]): "hard" | "soft" | "watch" | undefined {
  const given = (["hard", "soft", "watch"] as const).filter((mode) => flags[`--${mode}`]);
  if (given.length > 1)
    throw new UsageError(`choose one of ${given.map((mode) => `--${mode}`).join(" and ")}`);
  return given[0];
}

/** @param options of keys in this build */
export const keyCommands = (options: readonly KeyOption[]): readonly Command[] => [
  keysCreate(options),
  ...[keysList, keysShow],
  ...keyChanges(options),
];
