/**
 * What the books have of the lines of batches. The record of a call may be in them although its result was lost with the
 * process: the runner that goes on counts it, so that the cost of a batch is that of its calls. They stay as long as the calls, or
 * until the batch is deleted: the proof of the books compares both.
 */
import { NO_USAGE, type Usage } from "../../core/events.ts";
import type { NumberedCall } from "../../keeper/seams.ts";
import type { Sql } from "../../keeper/store/sql.ts";
import type { CallRecord } from "../../ledger/record.ts";
import type { Nano } from "../../ledger/money.ts";
import { batchId, batchLine } from "./columns.ts";

/** A try of a line. */
export interface Booked {
  readonly line: number;
  /** From 1. */
  readonly attempt: number;
  readonly cost: Nano;
  readonly usage: Usage;
  /** It was booked by the runner behind its own, because its process had ended. */
  readonly lost?: boolean;
}

export const BOOKED_ROWS = `
-- Calls of the lines of batches that have not ended. attempt: from 1. usage: tokens as JSON.
CREATE TABLE batches_calls (number {INT} PRIMARY KEY, batch TEXT NOT NULL, line {INT} NOT NULL, attempt {INT} NOT NULL,
  cost {INT} NOT NULL, usage TEXT NOT NULL) {KEYED};
CREATE INDEX batches_calls_batch ON batches_calls (batch);
`;

export const isOfBatch = (call: CallRecord) => batchLine.in(call) !== undefined;

/** @param calls of lines. A line that was lost has `lost` beside its tokens */
export async function writeBooked(sql: Sql, calls: readonly NumberedCall[]): Promise<void> {
  const rows = calls.map(({ number, call }) => {
    const batch = batchId.in(call)!;
    const { number: line, attempt, lost } = batchLine.in(call)!;
    const cost = call.attempts.reduce((sum, { charge }) => sum + charge.cost, 0);
    const usage = call.attempts.at(-1)?.usage ?? NO_USAGE;
    return [number, batch, line, attempt + 1, cost, JSON.stringify({ ...usage, ...(lost && { lost }) })];
  });
  const columns = ["number", "batch", "line", "attempt", "cost", "usage"];
  await sql.insert("batches_calls", columns, rows, "ON CONFLICT (number) DO NOTHING");
}

interface Row {
  readonly line: number | string;
  readonly attempt: number | string;
  readonly cost: number | string;
  readonly usage: string;
}

/** The last try of each line that the books have. */
export async function bookedIn(sql: Sql, batch: string): Promise<readonly Booked[]> {
  const rows = await sql.all<Row>(
    "SELECT line, attempt, cost, usage FROM batches_calls WHERE batch = $1 ORDER BY number",
    [batch],
  );
  const last = new Map<number, Booked>();
  for (const { line, attempt, cost, usage: text } of rows) {
    const { lost, ...usage } = JSON.parse(text) as Usage & Pick<Booked, "lost">;
    last.set(Number(line), {
      ...{ line: Number(line), attempt: Number(attempt), cost: Number(cost), usage },
      ...(lost && { lost }),
    });
  }
  return [...last.values()];
}

/** The batch is deleted. @param most rows, so that a large one does not hold up the books @returns how many were deleted */
export function forgetBooked(sql: Sql, batch: string, most = 1_000_000): Promise<number> {
  return sql.run(
    `DELETE FROM batches_calls WHERE number IN (SELECT number FROM batches_calls WHERE batch = $1 LIMIT ${most})`,
    [batch],
  );
}
