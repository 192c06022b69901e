/** Compares what the suite found directly with what it found through weir, check by check. */
import { markdownTable } from "../../helpers/documents.ts";
import type { Check, Checks, Scenario, Status } from "./suite.ts";

/** A check that says more is better. A scenario that could not be looked at is worse than one with a warning. */
const RANK: Readonly<Record<Status, number>> = { SUCCESS: 3, INFO: 3, WARNING: 2, SKIPPED: 1, FAILURE: 0 };

export interface Worse {
  readonly scenario: string;
  readonly check: string;
  readonly direct: Status | "absent";
  readonly through: Status | "absent";
  readonly why: string;
}

/** A check by its id and its place among those of the same id. */
function keyed(checks: readonly Check[]): Map<string, Check> {
  const seen = new Map<string, number>();
  return new Map(
    checks.map((check) => {
      const count = seen.get(check.id) ?? 0;
      seen.set(check.id, count + 1);
      return [count === 0 ? check.id : `${check.id} (${count + 1})`, check];
    }),
  );
}

/** The checks that are worse through weir than without it. */
export function worseThrough(direct: Checks, through: Checks): Worse[] {
  return [...direct].flatMap(([scenario, checks]) =>
    worseIn(scenario, keyed(checks), keyed(through.get(scenario) ?? [])),
  );
}

function worseIn(
  scenario: string,
  direct: ReadonlyMap<string, Check>,
  through: ReadonlyMap<string, Check>,
): Worse[] {
  const found: Worse[] = [];
  for (const [check, { status }] of direct) {
    const other = through.get(check);
    if (status === "INFO") continue;
    if (other ? RANK[other.status] < RANK[status] : RANK[status] > 0)
      found.push({
        ...{ scenario, check, direct: status, through: other?.status ?? "absent" },
        why: other?.errorMessage ?? "",
      });
  }
  const isClean = [...direct.values()].every(({ status }) => RANK[status] > 0);
  for (const [check, { status, errorMessage }] of through)
    if (isClean && !direct.has(check) && RANK[status] === 0)
      found.push({ scenario, check, direct: "absent", through: status, why: errorMessage ?? "" });
  return found;
}

/** How many checks hold, of how many. */
export interface Count {
  readonly held: number;
  readonly all: number;
}

export function countIn(checks: Checks, scenarios: readonly string[]): Count {
  const list = scenarios.flatMap((scenario) => checks.get(scenario) ?? []);
  const judged = list.filter(({ status }) => status === "SUCCESS" || status === "FAILURE");
  return { held: judged.filter(({ status }) => status === "SUCCESS").length, all: judged.length };
}

/** Rows of the table: scenarios about one thing, by what their names begin with. */
const GROUPS: readonly (readonly [string, RegExp])[] = [
  [
    "base: handshake, discovery, versions, methods",
    /^(server-(initialize|stateless)|ping|logging-set-level)$/,
  ],
  ["tools", /^tools-/],
  ["questions to the client", /^(elicitation-|tools-call-(sampling|elicitation))/],
  ["rounds of input", /^input-required-/],
  ["resources", /^(resources-|sep-2164)/],
  ["prompts and completion", /^(prompts-|completion-)/],
  ["streams, caching, hosts", /^(server-sse-multiple|caching|dns-)/],
  ["tasks (extension)", /^tasks-/],
  [
    "weir's own client: lifecycle, calls, headers, schemas",
    /^(initialize|tools_call|elicitation-sep1034-client|sse-retry|request-metadata|sep-2322-client|http-(standard|custom|invalid)|json-schema-ref)/,
  ],
  ["weir's own client: authorization", /^auth\//],
  ["weir's own authorization server: metadata, codes", /^authorization-/],
];

const UNSCORED = "not scored: headers, sessions, schemas, other authorization";

/** Scenarios in groups; those that do not count for the revision stand apart. */
export function groupsOf(scenarios: readonly Scenario[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { name, unscored } of scenarios) {
    // The more particular group stands further down.
    const group = GROUPS.findLast(([, pattern]) => pattern.test(name))?.[0] ?? name;
    const title = unscored && !group.includes("extension") ? UNSCORED : group;
    groups.set(title, [...(groups.get(title) ?? []), name]);
  }
  return groups;
}

/** A column of the table: a run of the suite. */
export interface Column {
  readonly title: string;
  readonly checks: Checks;
  readonly groups: ReadonlyMap<string, readonly string[]>;
}

export function verdictTable(columns: readonly Column[]): string {
  const titles = [...new Set(columns.flatMap(({ groups }) => [...groups.keys()]))].sort(byKind);
  const cell = ({ held, all }: Count) =>
    all === 0 ? "" : held === all ? `${held}` : `**${held}** of ${all}`;
  const rows = titles.map((title) => [
    title,
    ...columns.map(({ checks, groups }) => cell(countIn(checks, groups.get(title) ?? []))),
  ]);
  const total = columns.map(({ checks, groups }) => cell(countIn(checks, [...groups.values()].flat())));
  return markdownTable(
    ["checks that hold", ...columns.map(({ title }) => title)],
    [...rows, ["all", ...total]],
  );
}

/** The order of the table; what does not count stands last. */
function byKind(a: string, b: string): number {
  const place = (title: string) => GROUPS.findIndex(([group]) => group === title);
  return Number(/scored|extension/.test(a)) - Number(/scored|extension/.test(b)) || place(a) - place(b);
}
