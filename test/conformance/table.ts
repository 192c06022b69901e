/** The table of counts of a replay. */
import { CHUNKINGS, type Chunking } from "../helpers/recordings.ts";
import type { Replay } from "./native.ts";

interface Row {
  records: number;
  passed: number;
  policy: number;
  failed: number;
  /** Calls by chunking: how many went well of how many. */
  calls: Record<Chunking, { good: number; all: number }>;
}

/** Whether every run of a record went as it must. */
export function isGood(replay: Replay): boolean {
  return replay.runs.every((run) => run.faults.length === 0);
}

/** One line for each fault, for people. */
export function faultLines(replays: readonly Replay[]): string[] {
  return replays.flatMap(({ recording, runs }) =>
    runs.flatMap(({ chunking, faults }) =>
      faults.map((fault) => `${recording.vendor} ${recording.api} ${recording.id} ${chunking}: ${fault}`),
    ),
  );
}

/** Lines of text: counts by API and vendor, then why policy differs from a direct call. */
export function writeTable(replays: readonly Replay[]): string {
  const rows = new Map<string, Row>();
  const total = emptyRow();
  for (const replay of replays) {
    const name = `${replay.recording.api} ${replay.recording.vendor}`;
    const row = rows.get(name) ?? emptyRow();
    rows.set(name, row);
    count(replay, row);
    count(replay, total);
  }
  const head = ["", "records", "passed", "policy", "failed", ...CHUNKINGS];
  const body = [...rows].map(([name, row]) => cells(name, row));
  return [align([head, ...body, cells("all", total)]), "", ...policyLines(replays)].join("\n");
}

function emptyRow(): Row {
  const calls = Object.fromEntries(CHUNKINGS.map((name) => [name, { good: 0, all: 0 }])) as Row["calls"];
  return { records: 0, passed: 0, policy: 0, failed: 0, calls };
}

function count(replay: Replay, row: Row): void {
  row.records++;
  if (!isGood(replay)) row.failed++;
  else if (replay.expectation.kind === "same") row.passed++;
  else row.policy++;
  for (const { chunking, faults } of replay.runs) {
    row.calls[chunking].all++;
    if (faults.length === 0) row.calls[chunking].good++;
  }
}

function cells(name: string, row: Row): string[] {
  const calls = CHUNKINGS.map((chunking) => {
    const { good, all } = row.calls[chunking];
    return all === 0 ? "-" : `${good}/${all}`;
  });
  return [name, ...[row.records, row.passed, row.policy, row.failed].map(String), ...calls];
}

/** Columns: the first to the left, the others to the right. */
export function align(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join("  ");
  return rows.map(line).join("\n");
}

function policyLines(replays: readonly Replay[]): string[] {
  const reasons = new Map<string, number>();
  for (const { expectation } of replays) {
    if (expectation.kind === "same") continue;
    const reason =
      expectation.kind === "refused" ? `refused with 400: ${expectation.reason}` : expectation.reason;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  if (reasons.size === 0) return [];
  return ["policy:", ...[...reasons].map(([reason, records]) => `  ${records}  ${reason}`)];
}
