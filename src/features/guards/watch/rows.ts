/** What the store keeps of verdicts: numbers by hour, and the calls that a guard has blocked. */
import { callerOf, type Names } from "../../../keeper/store/names.ts";
import { startOf } from "../../../keeper/record/call-rows.ts";
import { HOUR_MS } from "../../../keeper/record/roll-ups.ts";
import type { KeptRows, NumberedCall } from "../../../keeper/seams.ts";
import type { Sql, SqlValue } from "../../../keeper/store/sql.ts";
import type { CallRecord } from "../../../ledger/record.ts";
import { guardFacts } from "../columns.ts";
import { PHASES } from "../declarations.ts";

export const VERDICT_ROWS = `
-- Verdicts of guards by hour. phase: input, output.
CREATE TABLE guards_hours (hour {INT} NOT NULL, guard TEXT NOT NULL, phase TEXT NOT NULL, verdict TEXT NOT NULL,
  calls {INT} NOT NULL, PRIMARY KEY (hour, guard, phase, verdict)) {KEYED};
-- Texts in front of guards that weir cannot read, by kind.
CREATE TABLE guards_unread (hour {INT} NOT NULL, guard TEXT NOT NULL, kind TEXT NOT NULL, texts {INT} NOT NULL,
  PRIMARY KEY (hour, guard, kind)) {KEYED};
-- number: of the call that a guard has blocked. place: path of the text. kinds: of the values, with spaces between.
CREATE TABLE guards_blocked (number {INT} PRIMARY KEY, id TEXT NOT NULL, at {INT} NOT NULL, caller {INT} NOT NULL,
  guard TEXT NOT NULL, phase TEXT NOT NULL, place TEXT NOT NULL, kinds TEXT NOT NULL) {KEYED};
`;

export const VERDICT_TABLES = ["guards_hours", "guards_unread", "guards_blocked"];

export const KEPT: readonly KeptRows[] = [
  {
    table: "guards_hours",
    key: ["hour", "guard", "phase", "verdict"],
    old: ({ hours }) => `hour < ${hours}`,
  },
  { table: "guards_unread", key: ["hour", "guard", "kind"], old: ({ hours }) => `hour < ${hours}` },
  {
    table: "guards_blocked",
    key: ["number"],
    old: ({ calls }) => `number < ${calls}`,
    of: (own) => own,
  },
];

export const hasVerdicts = (call: CallRecord) => guardFacts.in(call) !== undefined;

/** @param calls with verdicts */
export async function writeVerdicts(sql: Sql, names: Names, calls: readonly NumberedCall[]): Promise<void> {
  const hours = new Sums();
  const unread = new Sums();
  const blocked: SqlValue[][] = [];
  for (const { number, call } of calls) {
    const hour = Math.floor(startOf(call) / HOUR_MS) * HOUR_MS;
    for (const { name, phases, uninspected = {}, place = "", kinds } of guardFacts.in(call)!) {
      for (const phase of PHASES) {
        const verdict = phases[phase];
        if (verdict !== undefined) hours.add([hour, name, phase, verdict], 1);
        if (verdict === "blocked")
          blocked.push([
            ...[number, call.id, startOf(call), names.id("caller", callerOf(call)), name, phase, place],
            Object.keys(kinds).join(" "),
          ]);
      }
      for (const [kind, texts] of Object.entries(uninspected)) unread.add([hour, name, kind], texts);
    }
  }
  await hours.write(sql, "guards_hours", ["hour", "guard", "phase", "verdict"], "calls");
  await unread.write(sql, "guards_unread", ["hour", "guard", "kind"], "texts");
  const columns = ["number", "id", "at", "caller", "guard", "phase", "place", "kinds"];
  // Two guards may block one call: the one on its answer has not.
  await sql.insert("guards_blocked", columns, blocked, "ON CONFLICT (number) DO NOTHING");
}

/** Numbers that rows get more of, in the order of their keys: two nodes may write the same rows at once. */
class Sums {
  readonly #rows = new Map<string, { key: readonly SqlValue[]; sum: number }>();

  add(key: readonly SqlValue[], amount: number): void {
    const name = JSON.stringify(key);
    const row = this.#rows.get(name);
    if (row) row.sum += amount;
    else this.#rows.set(name, { key, sum: amount });
  }

  write(sql: Sql, table: string, key: readonly string[], sum: string): Promise<void> {
    const rows = [...this.#rows].sort(([one], [other]) => (one < other ? -1 : 1));
    return sql.insert(
      table,
      [...key, sum],
      rows.map(([, row]) => [...row.key, row.sum]),
      `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${sum} = ${table}.${sum} + excluded.${sum}`,
    );
  }
}

/** Blocked calls that a report names. */
const MOST_BLOCKED = 50;

interface BlockedRow {
  id: string;
  at: number;
  guard: string;
  phase: string;
  place: string;
  kinds: string;
}

/** What the store has of a time. Milliseconds since 1970; hours that began before are not among them. */
export async function readVerdicts(sql: Sql, from: number, to: number) {
  const range = [Math.floor(from / HOUR_MS) * HOUR_MS, to];
  return {
    hours: await sql.all<{ hour: number; guard: string; phase: string; verdict: string; calls: number }>(
      "SELECT hour, guard, phase, verdict, calls FROM guards_hours WHERE hour >= $1 AND hour < $2 ORDER BY hour, guard, phase, verdict",
      range,
    ),
    unread: await sql.all<{ guard: string; kind: string; texts: number }>(
      "SELECT guard, kind, CAST(SUM(texts) AS BIGINT) AS texts FROM guards_unread WHERE hour >= $1 AND hour < $2 GROUP BY guard, kind ORDER BY guard, kind",
      range,
    ),
    blocked: await sql.all<BlockedRow>(
      `SELECT id, at, guard, phase, place, kinds FROM guards_blocked WHERE at >= $1 AND at < $2 ORDER BY number DESC LIMIT ${MOST_BLOCKED}`,
      range,
    ),
  };
}
