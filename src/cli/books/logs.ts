/** `weir logs`: the records of calls. */
import type { Columns } from "../../core/column.ts";
import type { CallEntry } from "../../operator/index.ts";
import { type AddedFlag, type Command, FILTER_FLAGS } from "../command.ts";
import { table } from "../terminal.ts";
import { callsCsv } from "./calls-csv.ts";
import { type BookContext, bookCommand } from "./command.ts";
import { showMoney, showMs, showTime } from "./show.ts";
import { filterOf } from "./usage.ts";
import { countOf, durationOf, sinceOf, textOf } from "./values.ts";

const LAST = 50;
const FOLLOW_MS = 500;
/** Options that are parameters of the admin API under the same name. */
const SAME = ["status", "cost", "tokens", "session", "sort"];
const ORDERS = ["cost", "took", "first", "tokens"];
/** A call appears when it has ended, so its start may lie this far behind. Milliseconds. */
const LONGEST_CALL_MS = 3_600_000;

/** @param columns of this build: each one with a filter is an option @param added flags of features */
export const logsCommand = ({ list }: Columns, added: readonly AddedFlag[]): Command =>
  bookCommand({
    name: "logs",
    summary: "show the records of calls, or of one call",
    flags: [
      { name: "--follow", short: "-f", help: "go on with new calls" },
      { name: "--call", value: "ID", help: "everything about one call: req_…" },
      { name: "--failed", help: "only calls that failed" },
      { name: "--slow", value: "TIME", help: "only calls that took at least this long: 5s" },
      { name: "--status", value: "STATUS", help: "only calls with this status: 429, 5xx" },
      { name: "--cost", value: "DOLLARS", help: "only calls that cost as much: '>0.1'" },
      { name: "--tokens", value: "N", help: "only calls with as many tokens: '>50k'" },
      { name: "--session", value: "ID", help: "only calls of this session of a client" },
      { name: "--sort", value: "BY", help: `the largest last: ${ORDERS.join(", ")}`, completes: ORDERS },
      { name: "--since", value: "TIME", help: "only calls since then: 24h, 2026-11-01" },
      { name: "--last", value: "N", help: `number of calls (default ${LAST}, at most 500)` },
      ...FILTER_FLAGS,
      ...list.flatMap(({ name, filter }) =>
        filter ? [{ name: flagOf(name), value: filter.value, help: `only ${filter.help}` }] : [],
      ),
      { name: "--csv", help: "print comma-separated values" },
    ],
    async run(context) {
      const { api, flags, show, print } = context;
      const id = textOf(flags, "--call");
      if (id !== undefined) {
        const call = await api.ask("GET /calls/{id}", { params: { id } });
        return show(call, () => describeCall(call, added));
      }
      const query = {
        ...filterOf(flags),
        failed: flags["--failed"] === true || undefined,
        slowerThan: durationOf(flags, "--slow"),
        from: sinceOf(flags, "--since", Date.now()),
        ...Object.fromEntries(SAME.map((name) => [name, textOf(flags, `--${name}`)])),
        limit: Math.min(500, countOf(flags, "--last") ?? LAST),
        ...Object.fromEntries(list.map(({ name }) => [name, textOf(flags, flagOf(name))])),
      };
      const page = await api.ask("GET /calls", { query: { ...query, facts: flags["--csv"] === true } });
      if (flags["--csv"]) return print(callsCsv(page));
      const calls = [...page.calls].reverse();
      const asLines = (some: readonly CallEntry[]) =>
        flags["--json"] ? some.map((call) => JSON.stringify(call)).join("\n") : some.map(lineOf).join("\n");
      if (!flags["--follow"]) {
        if (flags["--json"]) return print(JSON.stringify(calls, null, 2));
        print(calls.length === 0 ? "No call matches." : asLines(calls));
        if (page.bounded)
          context.printError(
            `weir ended the search after ${flags["--sort"] === undefined ? "10,000" : "350,000"} calls; choose a time with --since.`,
          );
        return;
      }
      if (calls.length > 0) print(asLines(calls));
      await follow(context, query, calls, asLines);
    },
  });

/** The option of a column: `--cached-by` for `cachedBy`. */
const flagOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

async function follow(
  { api, print }: BookContext,
  query: Readonly<Record<string, string | number | boolean | undefined>>,
  known: readonly CallEntry[],
  asLines: (some: readonly CallEntry[]) => string,
): Promise<never> {
  let seen = new Set(known.map(({ id }) => id));
  for (;;) {
    await Bun.sleep(FOLLOW_MS);
    const from = Math.max(Number(query["from"] ?? 0), Date.now() - LONGEST_CALL_MS);
    const { calls } = await api.ask("GET /calls", { query: { ...query, from, limit: 500 } });
    const fresh = calls.filter(({ id }) => !seen.has(id)).reverse();
    if (fresh.length > 0) print(asLines(fresh));
    seen = new Set(calls.map(({ id }) => id));
  }
}

/** One line for a call. */
function lineOf(call: CallEntry): string {
  const last = call.attempts.at(-1);
  const tried = call.attempts.length > 1 ? ` after ${call.attempts.length} attempts` : "";
  const target = last ? ` → ${last.provider}/${last.model}${tried}` : "";
  const why = call.refused
    ? ` refused: ${call.refused}${call.refusedBy ? ` ${call.refusedBy.name}` : ""}`
    : call.error
      ? ` ${call.error.code ?? call.error.kind}`
      : "";
  const used = last ? ` ${last.usage.input}+${last.usage.output} tokens` : "";
  return `${showTime(call.startedAt)} ${call.status} ${call.outcome}${why} ${call.model}${target} ${showMs(call.ms)}${used} ${showMoney(costOf(call))} ${call.keyName ?? call.key ?? "-"} ${call.id}`;
}

function costOf({ attempts }: CallEntry): number {
  return attempts.reduce((sum, { charge }) => sum + charge.cost, 0);
}

/** Labels begin with a capital letter, as the console shows them. */
const lowered = (label: string) => label[0]!.toLowerCase() + label.slice(1);

/** @param added flags of features: each one that shows a member of the call has a line */
export function describeCall(call: CallEntry, added: readonly AddedFlag[] = []): string {
  const facts: [string, string | number | undefined][] = [
    ["id", call.id],
    ["began", `${showTime(call.startedAt)} UTC`],
    ["took", showMs(call.ms)],
    ["first byte after", call.firstMs === undefined ? undefined : showMs(call.firstMs)],
    ["weir itself", call.ownMs === undefined ? undefined : showMs(call.ownMs)],
    ["key", call.keyName ?? call.key],
    ["path", call.path],
    ["format", [call.format, call.lane, call.stream ? "streamed" : ""].filter(Boolean).join(", ")],
    ["model", call.model],
    ["status", call.status],
    ["outcome", call.outcome],
    ["refused", call.refused],
    ["error", call.error && [call.error.kind, call.error.code].filter(Boolean).join(" ")],
    ["finish", call.finish],
    ["client", call.client],
    ...(call.facts ?? []).map(({ label, text }): [string, string] => [lowered(label), text]),
    ["cost", showMoney(costOf(call))],
    ...added.flatMap(({ shows, name }): [string, string][] =>
      shows !== undefined && shows in call ? [[shows, `weir logs --call ${call.id} ${name}`]] : [],
    ),
  ];
  const given = facts.filter(([, value]) => value !== undefined && value !== "");
  const parts = [table(given.map(([name, value]) => [name, String(value)]))];
  if (call.attempts.length > 0) {
    const rows = call.attempts.map((attempt, at) => [
      String(at + 1),
      `${attempt.deployment} ${attempt.model}`,
      attempt.class,
      showMs(attempt.ms),
      `${attempt.usage.input} + ${attempt.usage.output}`,
      showMoney(attempt.charge.cost),
      attempt.charge.state,
      showMoney(attempt.held),
      attempt.charge.price ?? "",
    ]);
    const head = ["", "deployment and model", "result", "took", "tokens", "cost", "state", "held", "price"];
    parts.push("", table([head, ...rows], "  "));
  }
  const losses = (call.losses ?? []).map((loss) => `  ${loss.code} ${loss.path}`);
  if (losses.length > 0) parts.push("", "lost in translation", ...losses);
  return parts.join("\n");
}
