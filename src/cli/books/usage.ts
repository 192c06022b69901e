/** `weir usage`: what was used and what it cost, by key, model and time. */
import { FILTER_FLAGS, type Flag, UsageError } from "../command.ts";
import { table } from "../terminal.ts";
import { type BookContext, bookCommand } from "./command.ts";
import { readAssumed, textOfAssumed } from "./assumed.ts";
import { withProgress } from "./progress.ts";
import type { UsageGroup, UsageReport } from "../../operator/index.ts";
import { csv, showCount, showDay, showMoney, showTime } from "./show.ts";
import { listOf, sinceOf, textOf } from "./values.ts";

const GROUPS: readonly UsageGroup[] = [
  ...(["key", "path", "tag", "model", "provider", "client", "session", "state"] as const),
  ...(["day", "hour", "5min"] as const),
];

/** Filters of which the books have no sums: the calls themselves are added up. */
const CALL_FLAGS: readonly Flag[] = [
  { name: "--client", value: "NAME", help: "only calls of this client: the beginning of its name" },
  { name: "--session", value: "ID", help: "only calls of this session: its id at the client, or its hash" },
  { name: "--charge", value: "STATE", help: "only such charges: certain, estimated, assumed, unpriced" },
];

export function filterOf(flags: BookContext["flags"]): Record<string, string | undefined> {
  const names = ["key", "path", "tag", "model", "provider"];
  return Object.fromEntries(names.map((name) => [name, textOf(flags, `--${name}`)]));
}

const DAY_MS = 86_400_000;

export const usage = bookCommand({
  name: "usage",
  summary: "show calls, tokens and cost, by key, model or time",
  words: [],
  flags: [
    { name: "--by", value: "GROUPS", help: `${GROUPS.join(", ")} (default key,model)`, completes: GROUPS },
    { name: "--since", value: "TIME", help: "7d (default), 24h, or a day: 2026-11-01" },
    { name: "--until", value: "TIME", help: "end, in the same forms (default now)" },
    ...FILTER_FLAGS,
    ...CALL_FLAGS,
    { name: "--assumed", help: "list what was assumed, because no provider counted it" },
    { name: "--csv", help: "print comma-separated values" },
  ],
  async run(context) {
    const { api, flags, show, print } = context;
    const by = (listOf(flags, "--by") ?? ["key", "model"]).map(groupOf);
    const now = Date.now();
    const from = sinceOf(flags, "--since", now) ?? now - 7 * DAY_MS;
    const [client, session] = [textOf(flags, "--client"), textOf(flags, "--session")];
    const filter = { ...filterOf(flags), client, session, state: chargeOf(flags) };
    const time = { from, to: sinceOf(flags, "--until", now) };
    if (flags["--assumed"]) {
      const ofAll = Object.values(filter).every((value) => value === undefined);
      const assumed = await withProgress("reading", readAssumed(api, { ...time, ...filter }, ofAll));
      return show(assumed, () => textOfAssumed(assumed));
    }
    const query = { by, ...time, ...filter };
    const report = await withProgress("adding up", api.ask("GET /usage", { query }));
    if (flags["--csv"]) return print(csvOf(report, by));
    show(report, () => textOfReport(report, by, from));
  },
});

const CHARGES = ["certain", "estimated", "assumed", "unpriced"] as const;

/** @throws UsageError */
function chargeOf(flags: BookContext["flags"]): (typeof CHARGES)[number] | undefined {
  const word = textOf(flags, "--charge");
  const charge = CHARGES.find((known) => known === word);
  if (word === undefined || charge !== undefined) return charge;
  throw new UsageError(`--charge knows ${CHARGES.join(", ")}; "${word}" is none of them`);
}

/** @throws UsageError */
function groupOf(word: string): UsageGroup {
  const group = GROUPS.find((known) => known === word);
  if (group !== undefined) return group;
  throw new UsageError(`--by knows ${GROUPS.join(", ")}; "${word}" is none of them`);
}

function textOfReport(report: UsageReport, by: readonly UsageGroup[], from: number): string {
  if (report.rows.length === 0) return `There were no calls since ${showDay(from)}.`;
  const head = [...by, "calls", "failed", "input", "cached", "output", "cost", "uncertain", "unpriced"];
  const rows = report.rows.map(({ group, keyName, ...sums }) => [
    ...by.map((name) => (name === "key" && keyName) || group[name] || "-"),
    ...cellsOf(sums),
  ]);
  const total = ["total", ...by.slice(1).map(() => ""), ...cellsOf(report.total)];
  const lines = [table([head, ...rows, total])];
  if (report.completeFrom !== undefined)
    lines.push(`Sums are complete from ${showDay(report.completeFrom)}; older ones were deleted.`);
  if (report.searchedTo !== undefined)
    lines.push(`These are the newest calls, since ${showTime(report.searchedTo)}: there are more.`);
  if (report.total.unpriced > 0)
    lines.push("Some calls have no price: weir prices missing lists their models.");
  return lines.join("\n");
}

function cellsOf(sums: UsageReport["total"]): string[] {
  const uncertain = sums.estimated + sums.assumed;
  return [
    showCount(sums.calls),
    showCount(sums.failed),
    showCount(sums.input),
    showCount(sums.cacheRead),
    showCount(sums.output),
    showMoney(sums.cost),
    uncertain === 0 ? "" : showMoney(uncertain),
    sums.unpriced === 0 ? "" : showCount(sums.unpriced),
  ];
}

const COLUMNS = [
  "calls",
  "failed",
  "input",
  "cacheRead",
  "cacheWrite",
  "output",
  "reasoning",
  "cost",
  "estimated",
  "assumed",
  "unpriced",
] as const satisfies readonly (keyof UsageReport["total"])[];

/** Amounts are dollars with all their decimals. */
const MONEY: readonly string[] = ["cost", "estimated", "assumed"];

function csvOf({ rows }: UsageReport, by: readonly UsageGroup[]): string {
  const lines = rows.map(({ group, ...sums }) => [
    ...by.map((name) => group[name] ?? ""),
    ...COLUMNS.map((name) => (MONEY.includes(name) ? (sums[name] / 1e9).toFixed(9) : sums[name])),
  ]);
  return csv([[...by, ...COLUMNS], ...lines]);
}
