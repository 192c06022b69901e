/** What a release changes, for its notes: a table of what differs and for whom. */
import { showCount } from "../../../cli/books/show.ts";
import { CAUSES } from "../run/compare.ts";
import type { Rehearsed } from "../run/rehearsal.ts";

interface Row {
  cause: string;
  what: string;
  calls: number;
  /** Client formats and providers, with the number of their calls. */
  whom: Map<string, number>;
}

/** Rows at most: a change of all requests is in hundreds of members. */
const MOST_ROWS = 60;

/** Names of those a row concerns, at most. */
const MOST_WHOM = 3;

/** @param before and `after`: versions of the builds @returns Markdown */
export function releaseReport(done: Rehearsed, before: string, after: string): string {
  const { calls, same, changed, unknown } = done;
  const rows = rowsOf(done);
  const sum =
    `${showCount(calls)} calls that clients sent, as outlines, through weir ${before} and ${after} (\`weir rehearse\`): ` +
    `${showCount(same)} are the same, ${showCount(changed.length)} change` +
    `${unknown.length > 0 ? `, and ${showCount(unknown.length)} cannot be told without their texts` : ""}.`;
  const table = [
    ["cause", "calls", "for whom", "what"],
    ["---", "---:", "---", "---"],
    ...rows
      .slice(0, MOST_ROWS)
      .map(({ cause, what, calls: count, whom }) => [cause, showCount(count), namesOf(whom), cell(what)]),
  ].map((cells) => `| ${cells.join(" | ")} |`);
  const left = rows.length - MOST_ROWS;
  return [
    "## What changes for calls",
    "",
    sum,
    ...(rows.length > 0 ? ["", ...table] : []),
    ...(left > 0 ? ["", `${left} more rows have fewer calls.`] : []),
    "",
  ].join("\n");
}

function rowsOf({ changed }: Rehearsed): Row[] {
  const rows = new Map<string, Row>();
  for (const { outline, differences } of changed)
    for (const { cause, what } of differences) {
      const key = `${cause} ${what}`;
      let row = rows.get(key);
      if (!row) rows.set(key, (row = { cause, what, calls: 0, whom: new Map() }));
      const name = `${outline.format} → ${outline.by ?? "?"}`;
      row.calls++;
      row.whom.set(name, (row.whom.get(name) ?? 0) + 1);
    }
  const rank = ({ cause }: Row) => CAUSES.findIndex((one) => one === cause);
  return [...rows.values()].sort((a, b) => b.calls - a.calls || rank(a) - rank(b));
}

function namesOf(whom: ReadonlyMap<string, number>): string {
  const names = [...whom].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const more = names.length - MOST_WHOM;
  return `${names.slice(0, MOST_WHOM).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** A cell with what may have any letters. */
function cell(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll("|", "\\|").replace(/\s+/g, " ").slice(0, 160)}\``;
}
