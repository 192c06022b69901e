/** `weir tools cost`: what tools cost, from the books or from a tape. */
import { resolve } from "node:path";
import { type BookContext, runConnected } from "../../../cli/books/command.ts";
import { withProgress } from "../../../cli/books/progress.ts";
import { showCount, showDay, showMoney, showTime } from "../../../cli/books/show.ts";
import { filterOf } from "../../../cli/books/usage.ts";
import { sinceOf, textOf as textOfFlag } from "../../../cli/books/values.ts";
import { configOptions, type Context, UsageError } from "../../../cli/command.ts";
import { readConfig } from "../../../config/load.ts";
import type { TapeEntry } from "../../../gateway/recording/entry.ts";
import { table } from "../../../cli/terminal.ts";
import { visibleName } from "../pins/visible.ts";
import { addClasses, noClasses, sumOf } from "./attribute.ts";
import type { ToolCostReport } from "./contracts.ts";
import { costsOf, reportOf } from "./report.ts";
import { toolsOf } from "../section.ts";

const DAY_MS = 86_400_000;

/** @returns the exit code */
export async function run(context: Context): Promise<number> {
  const tape = await tapeOf(context);
  if (tape) {
    context.print(context.flags["--json"] ? JSON.stringify(tape.report, null, 2) : textOf(tape.report));
    return 0;
  }
  return runConnected(context, async (books) => {
    const { from, report } = await readReport(books);
    books.show(report, () => textOf(report, from));
  });
}

interface ReadTape {
  readonly report: ToolCostReport;
  readonly entries: readonly TapeEntry[];
}

/** What a tape says, by the prices of the config. @returns undefined without `--tape` @throws UsageError with flags that ask the books */
export async function tapeOf(context: Context): Promise<ReadTape | undefined> {
  const file = textOfFlag(context.flags, "--tape");
  if (file === undefined) return undefined;
  const others = Object.keys(context.flags).filter((name) => !["--tape", "--json"].includes(name));
  if (others.length > 0) throw new UsageError(`--tape reads a file alone; leave out ${others.join(", ")}`);
  const { ledgerOfTape } = await import("./tape.ts");
  const { readCalls } = await import("./tape-file.ts");
  const { builtInFormats } = await import("../../../run/formats.ts");
  const { PriceBook } = await import("../../../ledger/prices/book.ts");
  const entries = readCalls(resolve(context.cwd, file));
  const { config } = await readConfig({ ...configOptions(context), flags: {} });
  const formats = new Map(builtInFormats(config.messages).map((format) => [format.id, format]));
  const prices = new PriceBook(config.prices);
  const priceOf = (provider: string, model: string) => prices.lookup(provider, model);
  const servers = Object.keys(toolsOf(config).servers);
  return { entries, report: reportOf(ledgerOfTape(entries, { formats, priceOf }), servers) };
}

/** Asks the gateway, or its books. */
export async function readReport({ api, flags }: Pick<BookContext, "api" | "flags">) {
  const now = Date.now();
  const from = sinceOf(flags, "--since", now) ?? now - 7 * DAY_MS;
  const query = { from, ...filterOf(flags) };
  return {
    from,
    report: await withProgress("adding up", api.send<ToolCostReport>("GET", "/tools/costs", { query })),
  };
}

const HEAD = [
  "TOOL",
  "CALLS",
  "DEFINITION",
  "UNCACHED",
  "WRITTEN",
  "READ",
  "RESULTS",
  "USES",
  "ERRORS",
  "COST",
  "A USE",
];

/** @param from milliseconds since 1970; absent for a tape @returns lines of text */
export function textOf(report: ToolCostReport, from?: number): string {
  const { tools, rest, calls, tokens, cost } = report;
  if (calls === 0 && tools.length === 0 && from === undefined) return "no call of the tape has tools";
  if (calls === 0 && tools.length === 0)
    return `no call with tools since ${showDay(from!)} (tools.cost in weir.yaml turns the notes on)`;
  const all = { definition: 0, result: 0, uses: 0, errors: 0, classes: noClasses() };
  const rows = tools.map((tool) => {
    const classes = costsOf(tool);
    addClasses(all.classes, classes);
    all.definition += sumOf(tool.definition);
    all.result += sumOf(tool.result);
    all.uses += tool.uses;
    all.errors += tool.errors;
    const { uses, errors } = tool;
    return [
      ...[visibleName(tool.tool), showCount(tool.carried), showCount(sumOf(tool.definition))],
      ...moneyOf(classes),
      ...[
        sumOf(tool.result) === 0 ? "" : showCount(sumOf(tool.result)),
        tool.isHosted ? "?" : showCount(uses),
        errors === 0 ? "" : showCount(errors),
      ],
      ...[showMoney(tool.cost), uses === 0 ? "" : showMoney(Math.round(tool.cost / uses))],
    ];
  });
  const restCost = sumOf(rest.cost) + rest.other;
  addClasses(all.classes, rest.cost);
  const restRow = [
    "rest",
    "",
    showCount(sumOf(rest.tokens)),
    ...moneyOf(rest.cost),
    "",
    "",
    "",
    showMoney(restCost),
    "",
  ];
  const total = [
    ...["total", showCount(calls), showCount(tokens - all.result), ...moneyOf(all.classes)],
    ...[
      all.result === 0 ? "" : showCount(all.result),
      showCount(all.uses),
      all.errors === 0 ? "" : showCount(all.errors),
      showMoney(cost),
      "",
    ],
  ];
  return [table([HEAD, ...rows, restRow, total]), ...notesOf(report)].join("\n");
}

const moneyOf = ({ uncached, write, read }: ReturnType<typeof noClasses>) =>
  [uncached, write, read].map((nano) => (nano === 0 ? "" : showMoney(nano)));

/** What the figures lack, as sentences. */
export function notesOf({ unknown, unread, searchedTo, tools }: ToolCostReport): string[] {
  return [
    ...(unknown > 0
      ? [`The definitions of ${calls(unknown)} are not known: the rest has them, and they may use any tool.`]
      : []),
    ...(unread > 0 ? [`The answers of ${calls(unread)} could not be read; their tools count as used.`] : []),
    ...(searchedTo === undefined
      ? []
      : [`These are the newest calls, since ${showTime(searchedTo)}: there are more.`]),
    ...(tools.some(({ isHosted }) => isHosted)
      ? ["?: the vendor runs the tool, and weir does not see its calls."]
      : []),
  ];
}

const calls = (count: number) => `${showCount(count)} ${count === 1 ? "call" : "calls"}`;
