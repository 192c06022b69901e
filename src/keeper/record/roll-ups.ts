/** Sums of calls by hour and by day, for each caller and target. A batch is added up in memory and written as few rows. */
import type { CallRecord } from "../../ledger/record.ts";
import { startOf } from "./call-rows.ts";
import { callerOf, type Names, targetOf } from "../store/names.ts";
import { SUMS } from "../store/schema.ts";
import type { Sql, SqlValue } from "../store/sql.ts";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

type Sums = Record<(typeof SUMS)[number], number>;

interface Row {
  start: number;
  caller: number;
  target: number;
  sums: Sums;
}

/** Target of a call that reached no provider. */
const NO_TARGET = 0;

export class RollUps {
  readonly #names: Names;
  readonly #hours = new Map<string, Row>();
  /** The row that was asked for last: calls of one moment are much alike. */
  #last: Row | undefined;

  constructor(names: Names) {
    this.#names = names;
  }

  /** Adds a call: itself to the target of its last attempt, and each attempt to its own. */
  add(call: CallRecord): void {
    const hour = Math.floor(startOf(call) / HOUR_MS) * HOUR_MS;
    const caller = this.#names.id("caller", callerOf(call));
    const { attempts } = call;
    let sums: Sums | undefined;
    for (const attempt of attempts) {
      const { usage, charge } = attempt;
      sums = this.#sums(hour, caller, this.#names.id("target", targetOf(attempt)));
      sums.attempts += 1;
      sums.input += usage.input;
      sums.cache_read += usage.cacheRead;
      sums.cache_write += usage.cacheWrite;
      sums.cache_write_1h += usage.cacheWrite1h ?? 0;
      sums.output += usage.output;
      sums.reasoning += usage.reasoning;
      sums.searches += usage.searches ?? 0;
      sums.cost += charge.cost;
      if (charge.state === "reported") sums.reported += charge.cost;
      else if (charge.state === "estimated") sums.estimated += charge.cost;
      else if (charge.state === "assumed") sums.assumed += charge.cost;
      else if (charge.state === "unpriced") sums.unpriced += 1;
      if (charge.doubt === "tier") sums.untiered += charge.cost;
    }
    sums ??= this.#sums(hour, caller, NO_TARGET);
    sums.calls += 1;
    if (call.outcome === "failed") sums.failed += 1;
    if (call.refused !== undefined) sums.refused += 1;
    sums.ms += Math.round(call.ms);
    sums.first_ms += Math.round(call.firstMs ?? 0);
  }

  async write(sql: Sql): Promise<void> {
    const days = new Map<string, Row>();
    for (const { start, caller, target, sums } of this.#hours.values()) {
      const day = rowOf(days, Math.floor(start / DAY_MS) * DAY_MS, caller, target).sums;
      for (const column of SUMS) day[column] += sums[column];
    }
    await writeRows(sql, "use_hour", "hour", this.#hours);
    await writeRows(sql, "use_day", "day", days);
  }

  #sums(hour: number, caller: number, target: number): Sums {
    const last = this.#last;
    if (last?.caller === caller && last.target === target && last.start === hour) return last.sums;
    const row = rowOf(this.#hours, hour, caller, target);
    this.#last = row;
    return row.sums;
  }
}

function rowOf(rows: Map<string, Row>, start: number, caller: number, target: number): Row {
  const key = `${start} ${caller} ${target}`;
  let row = rows.get(key);
  if (!row) {
    const sums = Object.fromEntries(SUMS.map((column) => [column, 0])) as Sums;
    rows.set(key, (row = { start, caller, target, sums }));
  }
  return row;
}

async function writeRows(
  sql: Sql,
  table: "use_hour" | "use_day",
  unit: "hour" | "day",
  rows: ReadonlyMap<string, Row>,
): Promise<void> {
  // One order for all nodes: transactions that lock the same rows in different orders would wait for each other.
  const inOrder = [...rows.values()].sort(
    (a, b) => a.start - b.start || a.caller - b.caller || a.target - b.target,
  );
  const values = inOrder.map(({ start, caller, target, sums }): SqlValue[] => [
    start,
    caller,
    target,
    ...SUMS.map((column) => sums[column]),
  ]);
  await sql.insert(table, [unit, "caller", "target", ...SUMS], values, addUp(table, unit));
}

/** The clause that adds a row to the one that is there. */
export function addUp(table: "use_hour" | "use_day", unit: "hour" | "day"): string {
  const added = SUMS.map((column) => `${column} = ${table}.${column} + excluded.${column}`);
  return `ON CONFLICT (${unit}, caller, target) DO UPDATE SET ${added.join(", ")}`;
}
