/** The results as Markdown: the goals, then the figures behind them. */
import type { BooksCost } from "./books.ts";
import type { GuardsCost } from "./guards.ts";
import { gain, GOALS, judge, show, type Results } from "./goals.ts";
import type { HotFigures, HotPath } from "./hot-path.ts";
import { HOT_GOALS } from "./hot-goals.ts";
import type { OutlinesCost } from "./outlines.ts";
import { showRatio } from "./ratios.ts";

/** Members of results that other groups than the hot path measure. */
const OTHERS = [
  ...(["calls", "streams", "memory", "unread", "startMs", "burstSeconds"] as const),
  ...([
    "soak",
    "workers",
    "transports",
    "responses",
    "ranking",
    "books",
    "guards",
    "outlines",
    "slowDisk",
  ] as const),
];

/** The parts of README.md that a run has figures for, by their name. */
export function writeResults(results: Results): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  const { hotPath } = results;
  if (hotPath) parts.set("hot", [whereOf(results), ...hotPathTables(hotPath)].join("\n\n"));
  if (!hotPath || OTHERS.some((name) => results[name] !== undefined))
    parts.set("bench", writeOthers(results));
  return parts;
}

function whereOf(results: Results): string {
  return (
    `Measured on ${results.date}: ${results.machine}; medians of ${results.rounds}; ` +
    `${results.pinned ? "gateway on one core, upstream and load on the other" : "not pinned to cores"}. ` +
    `Load average ${results.load.map((value) => value.toFixed(1)).join(" at the start and ")} at the end. ` +
    "Figures drift on a shared machine; the ratios are of one run."
  );
}

/** Everything but the hot path. */
function writeOthers(results: Results): string {
  return [
    whereOf(results),
    goalsTable(results),
    ...(results.calls ? [callsTable(results)] : []),
    ...(results.streams ? [streamsTable(results)] : []),
    ...(results.transports ? [transportsTable(results)] : []),
    ...(results.books ? [booksTable(results.books)] : []),
    ...(results.guards ? [guardsTable(results.guards)] : []),
    ...(results.outlines ? [outlinesTable(results.outlines)] : []),
    `The binary has ${results.binaryMegabytes.toFixed(0)} MB.` + soakSentence(results),
  ].join("\n\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The goals of the hot path, its rows, and what is worse than before. */
function hotPathTables(hotPath: HotPath): string[] {
  const { rounds, rows, skipped, worse } = hotPath;
  const goals = HOT_GOALS.map((goal) => {
    const limit = (value: number) => `${goal.sense === "least" ? "≥" : "≤"} ${value}${goal.unit}`;
    const measured = goal.figure(hotPath);
    const figure = measured === undefined ? "not measured" : `${show(measured)}${goal.unit}`;
    return [
      goal.what,
      figure,
      limit(goal.reach),
      limit(goal.beyond),
      measured === undefined ? "" : judge(goal, measured),
    ];
  });
  const figures = rows.flatMap(({ name, fronts, against = {} }) =>
    Object.entries(fronts).map(([front, one]) => [
      name,
      front,
      ...hotCells(one),
      front === "weir" ? said(against) : "",
    ]),
  );
  return [
    `The hot path: a key with its own budget, two hard budgets above it, two limits, a state folder, cached tokens; CPU of all threads, medians of ${rounds} rounds.` +
      skipped.map((what) => ` Skipped: ${what}.`).join("") +
      (worse.length > 0 ? ` Worse than before: ${worse.join("; ")}.` : ""),
    table(["hot path", "measured", "reach", "beyond", ""], goals),
    table(
      [
        "row",
        "front",
        "per second",
        "CPU µs",
        "p50 ms",
        "p99 ms",
        "first p99 ms",
        "delay p99 ms",
        "failed",
        "÷ before",
      ],
      figures,
    ),
  ];
}

function hotCells({ perSecond, cpu, p50, p99, firstP99, delayP99, failed }: HotFigures): string[] {
  const times = [p50, p99, firstP99, delayP99].map((time) => (time === 0 ? "" : show(time / 1000)));
  return [Math.round(perSecond).toLocaleString("en"), cpu === 0 ? "" : show(cpu), ...times, String(failed)];
}

function said(against: NonNullable<HotPath["rows"][number]["against"]>): string {
  return Object.entries(against)
    .map(([figure, ratio]) => `${figure} ${showRatio(ratio)}`)
    .join(", ");
}

/** With a binary before this one: its figure, and how many times better this one's is. */
function goalsTable(results: Results): string {
  const compared = GOALS.some((goal) => goal.figure(results, "weir before") !== undefined);
  const rows = GOALS.map((goal) => {
    const figure = goal.figure(results, "weir");
    const before = goal.figure(results, "weir before");
    const limit = (value: number) => `${goal.sense === "least" ? "≥" : "≤"} ${value}${goal.unit}`;
    const measured = (value: number | undefined) =>
      value === undefined ? "not measured" : `${show(value)}${goal.unit}`;
    const factor = figure === undefined || before === undefined ? "" : `${show(gain(goal, before, figure))}`;
    return [
      goal.what,
      ...(compared ? [measured(before)] : []),
      measured(figure),
      ...(compared ? [factor] : []),
      limit(goal.reach),
      limit(goal.beyond),
      figure === undefined ? "" : judge(goal, figure, before),
    ];
  });
  const head = compared ? ["before", "after", "times better"] : ["measured"];
  return table(["what", ...head, "reach", "beyond", ""], rows);
}

function callsTable({ calls }: Results): string {
  const rows = calls!.flatMap(({ kilobytes, connections, fronts }) =>
    Object.entries(fronts).map(([name, one]) => [
      `${kilobytes} KB`,
      String(connections),
      name,
      Math.round(one.perSecond).toLocaleString("en"),
      show(one.p50 / 1000),
      show(one.p99 / 1000),
      one.cpu === 0 ? "" : show(one.cpu),
      String(one.failed),
      show(one.upstream),
    ]),
  );
  return table(
    [
      "request",
      "connections",
      "front",
      "per second",
      "p50 ms",
      "p99 ms",
      "CPU µs each",
      "failed",
      "upstream calls for each",
    ],
    rows,
  );
}

function streamsTable({ streams }: Results): string {
  const rows = Object.entries(streams!).map(([name, one]) => [
    name,
    Math.round(one.chunksPerSecond).toLocaleString("en"),
    show(one.firstP50 / 1000),
    show(one.firstP99 / 1000),
    show(one.delayP50 / 1000),
    show(one.delayP99 / 1000),
    one.cpu === 0 ? "" : show(one.cpu),
    String(one.failed),
  ]);
  return table(
    [
      "200 streams",
      "chunks/s",
      "first chunk p50 ms",
      "p99",
      "delay of a chunk p50 ms",
      "p99",
      "CPU µs a chunk",
      "failed",
    ],
    rows,
  );
}

/** An interval that holds 0 means that the rounds do not show a difference. */
function booksTable({ rounds, nothing, before, limits }: BooksCost): string {
  const rows = [
    ["three budgets and two limits, against a key that has nothing", limits] as const,
    ["a key that has nothing, against the binary before", nothing] as const,
    ["three budgets and two limits, against the binary before", before] as const,
  ].flatMap(([what, found]) =>
    found ? [[what, show(found.median), `${show(found.low)} to ${show(found.high)}`]] : [],
  );
  return table([`CPU of a call, ${rounds} alternating rounds`, "µs more", "95 % interval"], rows);
}

function guardsTable({ rounds, calls, streams, off }: GuardsCost): string {
  const rows = [
    ["calls of 1 KB with `pii` and `secrets`", calls] as const,
    ["chunks of streams with them", streams] as const,
    ["calls without guards, to the binary before", off] as const,
  ].flatMap(([what, found]) => (found ? [[what, showRatio(found)]] : []));
  return table([`for the same CPU, ${rounds} alternating rounds`, "×, 95 % interval"], rows);
}

function outlinesTable({ rounds, sizes }: OutlinesCost): string {
  const rows = sizes.map(({ kilobytes, cpu, rate, outlined }) => [
    `calls of ${kilobytes} KB`,
    showRatio(cpu),
    showRatio(rate),
    `${Math.round(outlined * 100)} %`,
  ]);
  const rounded = `with outlines to without, ${rounds} alternating rounds`;
  return table([rounded, "for the same CPU, ×, 95 % interval", "in a second, ×", "have an outline"], rows);
}

function transportsTable({ transports }: Results): string {
  const rows = transports!.map(({ kind, scheme, concurrency, perSecond, cpu, dialled, failed }) => [
    NAMES[kind] ?? kind,
    scheme,
    String(concurrency),
    Math.round(perSecond).toLocaleString("en"),
    show(cpu),
    dialled === undefined ? "" : String(dialled),
    String(failed),
  ]);
  return table(
    ["upstream client, alone", "over", "at once", "per second", "CPU µs each", "connections made", "failed"],
    rows,
  );
}

const NAMES: Record<string, string> = {
  fetch: "`fetch`",
  session: "`Bun.FetchSession`",
  node: "`node:http`",
  own: "weir's own",
};

function soakSentence({ soak }: Results): string {
  if (!soak?.weir) return "";
  const { minutes, streams, left, failed, descriptorsBefore, descriptorsAfter } = soak.weir;
  return ` The soak ran ${minutes} minutes: ${streams.toLocaleString("en")} streams, ${left.toLocaleString("en")} of them aborted, ${failed} failed; descriptors ${descriptorsBefore} before and ${descriptorsAfter} after.`;
}
