/** `weir audit`, `weir reconcile` and `weir whatif`: whether the books hold, and what they say about an invoice or another model. */
import { paint, table } from "../terminal.ts";
import { bookCommand } from "./command.ts";
import { withProgress } from "./progress.ts";
import type { Frozen, Proof } from "../../operator/index.ts";
import { showCount, showMoney } from "./show.ts";
import { readAmount, readMap, readMonth, sinceOf, textOf } from "./values.ts";
import { FILTER_FLAGS, filterOf } from "./usage.ts";
import { UsageError } from "../command.ts";

export const audit = bookCommand({
  name: "audit",
  summary: "prove that the books agree with themselves; exits with 1 if they do not",
  async run({ api, show }) {
    const work = api.ask("GET /audit/books");
    const report = await withProgress("checking the books", work, async () => {
      const { auditing } = await api.ask("GET /store");
      return auditing && auditing.done / auditing.of;
    });
    show(report, () => verdicts(report));
    return report.holds ? 0 : 1;
  },
});

/** A line for each check, and the result. */
export function verdicts({ checks, holds }: Frozen<Proof>): string {
  const rows = checks.map(({ name, holds: isHeld, detail }) => [isHeld ? "ok" : "FAILED", name, detail]);
  const lines = table(rows)
    .split("\n")
    .map((line, at) => paint(checks[at]!.holds ? "green" : "red", line));
  const failed = checks.filter((check) => !check.holds).length;
  return [
    ...lines,
    holds ? "The books hold." : `The books do not hold: ${failed} of ${checks.length} checks failed.`,
  ].join("\n");
}

export const reconcile = bookCommand({
  name: "reconcile",
  summary: "compare a provider's invoice with the books, and split the difference into its causes",
  words: [{ name: "PROVIDER" }, { name: "MONTH" }, { name: "DOLLARS" }],
  async run({ api, words: [provider = "", month = "", dollars = ""], show }) {
    const body = { provider, month: readMonth(month), amount: readAmount(dollars, "DOLLARS") };
    const result = await withProgress("adding up", api.ask("POST /invoices", { body }));
    show(result, () => {
      const rows = [
        ["invoice", showMoney(result.invoiced), `${result.provider}, ${result.month}`],
        ["books", showMoney(result.booked), ""],
        ["difference", showMoney(result.difference), ""],
        ...result.causes.map(({ name, amount, detail }) => [`  ${name}`, showMoney(amount), detail]),
      ];
      return table(rows);
    });
  },
});

const DAY_MS = 86_400_000;

export const whatif = bookCommand({
  name: "whatif",
  summary: "show what past calls would have cost at other models' prices",
  flags: [
    { name: "--map", value: "PAIRS", help: "other models by model: 'gpt-5.4=anthropic/claude-sonnet-5'" },
    { name: "--since", value: "TIME", help: "30d (default), 24h, or a day: 2026-11-01" },
    ...FILTER_FLAGS,
  ],
  async run({ api, flags, show }) {
    const pairs = textOf(flags, "--map");
    if (pairs === undefined)
      throw new UsageError(
        "weir whatif requires --map, for example --map 'gpt-5.4=anthropic/claude-sonnet-5'",
      );
    const now = Date.now();
    const from = sinceOf(flags, "--since", now) ?? now - 30 * DAY_MS;
    const body = { from, to: now, map: readMap(pairs), ...filterOf(flags) };
    const result = await withProgress("calculating", api.ask("POST /whatif", { body }));
    show(result, () => {
      const rows = result.rows.map((row) => [
        row.from,
        row.to,
        showCount(row.calls),
        showMoney(row.now),
        row.then === undefined ? (row.why ?? "no price") : showMoney(row.then),
      ]);
      const total = ["total", "", showCount(result.calls), showMoney(result.now), showMoney(result.then)];
      return table([["model", "instead", "calls", "booked", "would have cost"], ...rows, total]);
    });
  },
});
