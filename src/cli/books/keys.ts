/** `weir keys`: makes, lists and ends the keys of clients. */
import type { Scopes } from "../../ledger/policy.ts";
import { type Command, type Flag, UsageError } from "../command.ts";
import { table } from "../terminal.ts";
import { listAll } from "./api.ts";
import { type BookContext, bookCommand } from "./command.ts";
import { RATE_FLAGS, ratesOf } from "./rate-flags.ts";
import type { CreatedKey, KeyView } from "./shapes.ts";
import { showTime } from "./show.ts";
import { countOf, durationOf, listOf, readAmount, readBudget, textOf } from "./values.ts";

const SCOPE_FLAGS: readonly Flag[] = [
  { name: "--models", value: "PATTERNS", help: "models that it may use: 'gpt-*,claude-*'" },
  { name: "--providers", value: "NAMES", help: "providers that its calls may go to" },
  {
    name: "--endpoints",
    value: "NAMES",
    help: "chat, messages, responses, embeddings, count, models, explain",
  },
  { name: "--addresses", value: "CIDRS", help: "addresses of clients: 10.0.0.0/8" },
  { name: "--max-tokens", value: "N", help: "most output tokens of one call" },
  { name: "--max-cost", value: "DOLLARS", help: "most that one call may cost" },
  { name: "--no-server-tools", help: "providers may not search, fetch or run code for it" },
];

export const MODE_FLAGS: readonly Flag[] = [
  { name: "--hard", help: "the most that a call can cost must be left of the budget" },
  { name: "--soft", help: "a call is admitted while anything is left of the budget" },
  { name: "--watch", help: "the budget only counts, and refuses no call" },
];

const keysCreate = bookCommand({
  name: "keys create",
  summary: "create a key; prints it once",
  words: [{ name: "NAME" }],
  flags: [
    { name: "--path", value: "PATH", help: "place in the tree of keys: /eng/search (default /)" },
    { name: "--budget", value: "AMOUNT", help: "dollars that it may spend: 50/month, 2/day, 10/5h, 100" },
    ...MODE_FLAGS,
    ...RATE_FLAGS,
    ...SCOPE_FLAGS,
    { name: "--expires", value: "TIME", help: "how long it works: 90d, 24h" },
    { name: "--tag", value: "TAGS", help: "tags, which budgets and reports can name" },
  ],
  async run(context) {
    const { api, flags, words } = context;
    const budget = textOf(flags, "--budget");
    const mode = modeOf(flags);
    if (mode !== undefined && budget === undefined)
      throw new UsageError(`--${mode} belongs to a budget; give one with --budget`);
    const lasts = durationOf(flags, "--expires");
    const created = await api.send<CreatedKey>("POST", "/keys", {
      body: {
        name: words[0],
        path: textOf(flags, "--path"),
        tags: listOf(flags, "--tag"),
        scopes: scopesOf(flags),
        expiresAt: lasts === undefined ? undefined : Date.now() + lasts,
        budget: budget === undefined ? undefined : { ...readBudget(budget, "--budget"), mode },
        rates: ratesOf(flags),
      },
    });
    showSecret(created, context);
  },
});

/** The key alone goes to standard output, so that a script can read it: `KEY=$(weir keys create app)`. */
export function showSecret(created: CreatedKey, { api, printError, show, warn }: BookContext): void {
  const { key, secret, closed } = created;
  warn(key);
  show(created, () => secret);
  const where = api.port ? ` to the gateway on port ${api.port}` : "";
  const use =
    key.kind === "call"
      ? `Clients send it as their API key (OPENAI_API_KEY, ANTHROPIC_API_KEY, …)${where}.`
      : "It is for the admin API: set it as WEIR_ADMIN_KEY.";
  printError(`This is the key ${key.name} (${key.id}). weir shows it only now and stores its digest. ${use}`);
  if (closed && key.kind === "call") printError("Every call needs a key from now on.");
}

const keysList = bookCommand({
  name: "keys list",
  summary: "list the keys",
  flags: [
    { name: "--path", value: "PATH", help: "only keys on this path and below" },
    { name: "--revoked", help: "also revoked keys" },
  ],
  async run({ api, flags, show }) {
    const query = { path: textOf(flags, "--path"), revoked: flags["--revoked"] === true };
    const keys = await listAll<KeyView>(api, "/keys", "keys", query);
    show(keys, () =>
      keys.length === 0 ? "There are no keys: calls on loopback need none." : keyTable(keys),
    );
  },
});

function keyTable(keys: readonly KeyView[]): string {
  const rows = keys.map((key) => [
    key.name,
    key.id,
    key.kind,
    key.path,
    key.state,
    showTime(key.expiresAt) || "never",
    showTime(key.lastUsedAt) || "never",
    key.hint ?? "",
  ]);
  return table([["name", "id", "kind", "path", "state", "expires", "last used", "key"], ...rows]);
}

const keysShow = bookCommand({
  name: "keys show",
  summary: "show what a key may do",
  words: [{ name: "NAME" }],
  async run({ api, words, show }) {
    const key = await api.send<KeyView>("GET", `/keys/${encodeURIComponent(words[0]!)}`);
    show(key, () => table(factsOf(key)));
  },
});

function factsOf(key: KeyView): [string, string][] {
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
      Array.isArray(value) ? value.join(", ") : String(value),
    ]),
  ];
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
}

const keysRotate = bookCommand({
  name: "keys rotate",
  summary: "give a key a new text; the old one works for a grace period",
  words: [{ name: "NAME" }],
  flags: [{ name: "--grace", value: "TIME", help: "how long the old one works: 24h (default), 0s" }],
  async run(context) {
    const { api, flags, words } = context;
    const graceMs = durationOf(flags, "--grace");
    const created = await api.send<CreatedKey>("POST", `/keys/${encodeURIComponent(words[0]!)}/rotate`, {
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
  flags: [{ name: "--cut", help: "also end its running answers" }],
  asks: ({ words: [name] }) => `Revoke the key ${name}, for good?`,
  async run({ api, flags, words, show }) {
    const key = await api.send<KeyView>("DELETE", `/keys/${encodeURIComponent(words[0]!)}`, {
      query: { cut: flags["--cut"] === true || undefined },
    });
    show(key, () => `The key ${key.name} is revoked.`);
  },
});

/** @returns undefined without any of the flags @throws UsageError */
function scopesOf(flags: BookContext["flags"]): Scopes | undefined {
  const maxCost = textOf(flags, "--max-cost");
  const scopes: Record<keyof Scopes, unknown> = {
    models: listOf(flags, "--models"),
    providers: listOf(flags, "--providers"),
    endpoints: listOf(flags, "--endpoints"),
    addresses: listOf(flags, "--addresses"),
    maxTokens: countOf(flags, "--max-tokens"),
    maxCost: maxCost === undefined ? undefined : readAmount(maxCost, "--max-cost"),
    serverTools: flags["--no-server-tools"] ? false : undefined,
  };
  return Object.values(scopes).some((scope) => scope !== undefined) ? (scopes as Scopes) : undefined;
}

/** @throws UsageError if more than one is given */
export function modeOf(flags: BookContext["flags"]): "hard" | "soft" | "watch" | undefined {
  const given = (["hard", "soft", "watch"] as const).filter((mode) => flags[`--${mode}`]);
  if (given.length > 1)
    throw new UsageError(`choose one of ${given.map((mode) => `--${mode}`).join(" and ")}`);
  return given[0];
}

export const KEY_COMMANDS: readonly Command[] = [keysCreate, keysList, keysShow, keysRotate, keysRevoke];
