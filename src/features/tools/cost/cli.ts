/** `weir tools cost`: what tools cost, from the books or from a tape. */
import { type BookContext, runConnected } from "../../../cli/books/command.ts";
import { withProgress } from "../../../cli/books/progress.ts";
import { showCount, showDay, showMoney, showTime } from "../../../cli/books/show.ts";
import { filterOf } from "../../../cli/books/usage.ts";
import { sinceOf } from "../../../cli/books/values.ts";
import type { Context } from "../../../cli/command.ts";
import { table } from "../../../cli/terminal.ts";
import { visibleName } from "../pins/visible.ts";
import { addClasses, noClasses, sumOf } from "./attribute.ts";
import type { ToolCostReport } from "./contracts.ts";
import { costsOf } from "./report.ts";

const DAY_MS = 86_400_000;

/** @returns the exit code */
export function run(context: Context): Promise<number> {
  return runConnected(context, async (books) => {
    const { from, report } = await readReport(books);
    books.show(report, () => textOf(report, from));
  });
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

/** @param from milliseconds since 1970 @returns lines of text */
export function textOf(report: ToolCostReport, from: number): string {
  const { tools, rest, calls, tokens, cost } = report;
  if (calls === 0 && tools.length === 0)
    return `no call with tools since ${showDay(from)} (tools.cost in weir.yaml turns the notes on)`;
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
        showCount(sumOf(tool.result)),
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
      showCount(all.result),
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
    ...(unknown > 0 ? [`The definitions of ${calls(unknown)} are not known; the rest has them.`] : []),
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
