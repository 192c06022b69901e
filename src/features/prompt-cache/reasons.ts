/** Why calls read too little from a cache: the newest rows that a filter selects, and the reason that cost most. */
import { BREAK_REASONS } from "../../ledger/record.ts";
import { firstNumber } from "../../keeper/store/numbers.ts";
import type { Sql } from "../../keeper/store/sql.ts";
import { type Directory, inList } from "../../keeper/reports/directory.ts";
import type { Filter } from "../../keeper/reports/shapes.ts";
import type { Commonest } from "./shapes.ts";

/** Most calls that read too little which one report looks at: the newest. */
const MOST_BREAKS = 50_000;

/** Calls by caller and target, in numbers. */
export interface Who {
  day: number;
  caller: number;
  client: number;
  target: number;
}

export interface ReasonRow extends Who {
  reason: number;
  section: string | null;
  breaks: number;
  cost: number;
}

/** The newest rows of `cache_breaks` that a filter selects, as a table. */
export interface Newest {
  rows: string;
  values: number[];
}

export function newestOf(
  directory: Directory,
  filter: Filter,
  { from = 0, to = Number.MAX_SAFE_INTEGER }: { from?: number; to?: number },
): Newest {
  return {
    rows: `(SELECT * FROM cache_breaks WHERE number >= $1 AND at >= $2 AND at < $3${selected(directory, filter)}
      ORDER BY number DESC LIMIT ${MOST_BREAKS}) AS newest`,
    values: [firstNumber(from), from, to],
  };
}

/** @returns the time of the oldest of these rows, if there may be older ones */
export async function oldestOf(sql: Sql, { rows, values }: Newest): Promise<{ reasonsFrom?: number }> {
  const [found] = await sql.all<{ breaks: number; oldest: number | null }>(
    `SELECT count(*) AS breaks, min(at) AS oldest FROM ${rows}`,
    values,
  );
  return found && found.breaks >= MOST_BREAKS ? { reasonsFrom: found.oldest ?? 0 } : {};
}

/** The condition of a filter, behind others. */
export function selected(directory: Directory, filter: Filter): string {
  const callers = directory.callersOf(filter);
  const targets = directory.targetsOf(filter);
  return `${callers ? ` AND caller ${inList(callers)}` : ""}${targets ? ` AND target ${inList(targets)}` : ""}`;
}

export function withCommonest<Row extends object>(row: Row, reasons: readonly ReasonRow[] = []) {
  const sums = new Map<string, Commonest>();
  for (const { reason: number, section, breaks, cost } of reasons) {
    const reason = BREAK_REASONS[number] ?? "provider";
    // Each call of a conversation has turns of its own: they are one reason.
    const part = section === null ? undefined : partOf(section);
    const key = `${reason} ${part}`;
    const sum = sums.get(key) ?? { reason, ...(part !== undefined && { section: part }), breaks: 0, cost: 0 };
    sums.set(key, { ...sum, breaks: sum.breaks + breaks, cost: sum.cost + cost });
  }
  const [commonest] = [...sums.values()].sort((a, b) => b.cost - a.cost || b.breaks - a.breaks);
  return commonest ? { ...row, commonest } : row;
}

/** Tools and turns without their index. */
function partOf(section: string): string {
  return section.startsWith("system[") ? section : section.replace(/\[\d+\]$/, "");
}
