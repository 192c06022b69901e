/** `weir budgets` and `weir rates`: limits of money and of pace. */
import type { Subject } from "../../ledger/policy.ts";
import { type Command, type Flag, UsageError } from "../command.ts";
import { table } from "../terminal.ts";
import { type AdminApi, listAll } from "./api.ts";
import { type BookContext, bookCommand, DRY_RUN_FLAG, isDryRun } from "./command.ts";
import { MODE_FLAGS, modeOf } from "./keys.ts";
import { RATE_FLAGS, ratesOf, showRates } from "./rate-flags.ts";
import type { Budget, Rate } from "../../operator/index.ts";
import { showLimit, showMoney, showSubject, showTime } from "./show.ts";
import { readBudget, textOf } from "./values.ts";

const KINDS = ["key", "path", "tag", "model", "provider", "session", "all"] as const;

const ON_FLAG: Flag = {
  name: "--on",
  value: "WHAT",
  help: "calls that it counts: key:NAME, path:/eng, tag:T, model:PATTERN, model:@SET, provider:NAME, session, all",
};

const ZONE_FLAG: Flag = {
  name: "--zone",
  value: "ZONE",
  help: "time zone of its days and months: Europe/Berlin",
};
const USE_FLAG: Flag = { name: "--use", value: "MODEL", help: "model that calls get when it is exhausted" };

const budgetsList = bookCommand({
  name: "budgets list",
  summary: "list the budgets with what is spent, held and left",
  async run({ api, show }) {
    const budgets = await listAll(api, "GET /budgets", "budgets");
    const names = await keyNames(api, budgets);
    show(budgets, () => (budgets.length === 0 ? "There are no budgets." : budgetTable(budgets, names)));
  },
});

function budgetTable(budgets: readonly Budget[], names: ReadonlyMap<string, string>): string {
  const rows = budgets.map((budget) => {
    const [open] = budget.windows;
    const limit = budget.limit;
    return [
      budget.name,
      showSubject(budget.on, names, budget.sets),
      showLimit(limit, budget.window),
      budget.mode,
      showMoney(open?.spent ?? 0),
      showMoney(open?.assumed ?? 0),
      showMoney(open?.held ?? 0),
      showMoney(open?.left ?? limit),
      open?.endsAt === undefined ? "" : showTime(open.endsAt),
    ];
  });
  const head = ["name", "on", "limit", "mode", "spent", "assumed", "held", "left", "resets"];
  return table([head, ...rows]);
}

const budgetsSet = bookCommand({
  name: "budgets set",
  summary: "create a budget, or change its amount and mode",
  words: [{ name: "NAME" }, { name: "AMOUNT" }],
  flags: [ON_FLAG, ...MODE_FLAGS, ZONE_FLAG, USE_FLAG],
  async run({ api, flags, words: [name = "", amount = ""], show, warn }) {
    const use = textOf(flags, "--use");
    const body = {
      ...readBudget(amount, "AMOUNT"),
      on: subjectOf(flags),
      mode: modeOf(flags),
      zone: textOf(flags, "--zone"),
      onEmpty: use === undefined ? undefined : { use },
    };
    const budget = await createOrChange<Budget>(api, "budgets", name, body);
    warn(budget);
    show(
      budget,
      () => `The budget ${budget.name} is ${showLimit(budget.limit, budget.window)}, ${budget.mode}.`,
    );
  },
});

const budgetsRaise = bookCommand({
  name: "budgets raise",
  summary: "set a higher limit",
  words: [{ name: "NAME" }, { name: "DOLLARS" }],
  async run({ api, words: [name = "", amount = ""], show }) {
    const { limit } = readBudget(amount, "DOLLARS");
    const budget = await api.ask("POST /budgets/{id}/raise", { params: { id: name }, body: { limit } });
    show(budget, () => `The budget ${budget.name} is ${showLimit(budget.limit, budget.window)}.`);
  },
});

const ratesList = bookCommand({
  name: "rates list",
  summary: "list the rate limits",
  async run({ api, show }) {
    const rates = await listAll(api, "GET /rates", "rates");
    const names = await keyNames(api, rates);
    const rows = () =>
      rates.map((rate) => [rate.name, showSubject(rate.on, names, rate.sets), showRates(rate.limits)]);
    show(rates, () =>
      rates.length === 0 ? "There are no rate limits." : table([["name", "on", "at most"], ...rows()]),
    );
  },
});

const ratesSet = bookCommand({
  name: "rates set",
  summary: "create or change a rate limit",
  words: [{ name: "NAME" }],
  flags: [ON_FLAG, ...RATE_FLAGS],
  async run({ api, flags, words: [name = ""], show, warn }) {
    const limits = ratesOf(flags);
    if (limits === undefined) throw new UsageError("weir rates set requires a limit such as --rpm 60");
    const rate = await createOrChange<Rate>(api, "rates", name, {
      on: subjectOf(flags),
      limits,
    });
    warn(rate);
    show(rate, () => `The rate limit ${rate.name} is ${showRates(rate.limits)}.`);
  },
});

function deletion(group: "budgets" | "rates", what: string): Command {
  return bookCommand({
    name: `${group} delete`,
    summary: `delete a ${what}`,
    words: [{ name: "NAME" }],
    asks: ({ words: [name] }) => `Delete the ${what} ${name}?`,
    flags: [DRY_RUN_FLAG],
    async run({ api, flags, words: [name = ""], show }) {
      if (isDryRun(flags)) {
        const rule = await api.ask(`GET /${group}/{id}`, { params: { id: name } });
        const names = await keyNames(api, [rule]);
        const does =
          rule.source === "config" ? "is one of the config file and is removed there" : "would be deleted";
        return show(
          rule,
          () => `The ${what} ${rule.name} on ${showSubject(rule.on, names, rule.sets)} ${does}.`,
        );
      }
      const deleted = await api.ask(`DELETE /${group}/{id}`, { params: { id: name } });
      show(deleted, () => `The ${what} ${name} is deleted.`);
    },
  });
}

/** Changes the entry of this name if there is one. A new one needs `on`. */
async function createOrChange<Entry extends Budget | Rate>(
  api: AdminApi,
  group: "budgets" | "rates",
  name: string,
  body: Readonly<Record<string, unknown>> & { on: Subject | undefined },
): Promise<Entry> {
  const known =
    group === "budgets"
      ? await listAll(api, "GET /budgets", "budgets")
      : await listAll(api, "GET /rates", "rates");
  if (known.some((entry) => entry.name === name))
    return api.send("PATCH", `/${group}/${encodeURIComponent(name)}`, { body });
  if (body.on === undefined)
    throw new UsageError(`${name} is new; say what it counts with --on, for example --on all`);
  return api.send("POST", `/${group}`, { body: { name, ...body } });
}

/** @throws UsageError */
function subjectOf(flags: BookContext["flags"]): Subject | undefined {
  const text = textOf(flags, "--on");
  if (text === undefined) return undefined;
  const [, word = "", what = ""] = /^([a-z]+)(?::(.+))?$/.exec(text) ?? [];
  const kind = KINDS.find((candidate) => candidate === word);
  const wantsWhat = kind !== "all" && kind !== "session";
  if (kind && wantsWhat === (what !== "")) return { kind, what };
  throw new UsageError(`--on requires ${ON_FLAG.help.replace(/^.*: /, "")}; "${text}" is none of them`);
}

/** Names of keys by id, if an entry is on a key. */
async function keyNames(api: AdminApi, entries: readonly { on: Subject }[]): Promise<Map<string, string>> {
  if (!entries.some(({ on }) => on.kind === "key")) return new Map();
  const keys = await listAll(api, "GET /keys", "keys", { revoked: true });
  return new Map(keys.map(({ id, name }) => [id, name]));
}

export const LIMIT_COMMANDS: readonly Command[] = [
  budgetsList,
  budgetsSet,
  budgetsRaise,
  deletion("budgets", "budget"),
  ratesList,
  ratesSet,
  deletion("rates", "rate limit"),
];
