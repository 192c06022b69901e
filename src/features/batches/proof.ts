/** The proof that a batch cost what its lines cost, and its lines what their calls were charged: a check of `weir audit`. */
import type { Usage } from "../../core/events.ts";
import type { Sql } from "../../keeper/store/sql.ts";
import { type Nano, sayNano } from "../../ledger/money.ts";
import { type Batch, endedLines, isEnd } from "./batch.ts";
import { type BatchRow, COLUMNS, keptOf } from "./book.ts";

const NAME = "batches cost what their lines were charged";

/** Records of calls are written soon after the end of their batch. Milliseconds. */
const LATE_MS = 5_000;
/** Rows of one read. */
const SLAB = 1_000;

interface Sums {
  cost: Nano;
  input: number;
  output: number;
}

/** @param sql the view of one moment */
export async function proveBatches(sql: Sql): Promise<{ name: string; holds: boolean; detail: string }> {
  const told = (holds: boolean, detail: string) => ({ name: NAME, holds, detail });
  const [row] = await sql.all<{ count: number | string }>(
    `SELECT COUNT(*) AS count FROM batches_calls JOIN calls ON calls.number = batches_calls.number
     WHERE calls.cost <> batches_calls.cost`,
  );
  const lines = Number(row!.count);
  if (lines > 0) return told(false, `${lines} lines of batches cost something else than their calls`);
  const [kept] = await sql.all<{ value: number | string }>(
    "SELECT value FROM meta WHERE name = 'calls_from'",
  );
  let batches = 0;
  let cost = 0;
  let partly = 0;
  for (let after = ""; ;) {
    const rows = await sql.all<BatchRow>(
      `SELECT ${COLUMNS} FROM batches WHERE id > $1 AND ended IS NOT NULL AND ended < $2 AND created >= $3 ORDER BY id LIMIT ${SLAB}`,
      [after, Date.now() - LATE_MS, Number(kept?.value ?? 0)],
    );
    for (const { batch, fence } of rows.map(keptOf)) {
      const fault = ownFault(batch) ?? (fence > 1 ? undefined : sumFault(batch, await sumsOf(sql, batch.id)));
      if (fault !== undefined) return told(false, `the batch ${batch.id} ${fault}`);
      batches++;
      cost += batch.cost;
      if (fence > 1) partly++;
    }
    after = rows.at(-1)?.id ?? "";
    if (rows.length < SLAB) break;
  }
  // With a runner that was killed, records of calls may be gone that its journal has.
  const taken = partly === 0 ? "" : `; ${partly} had several runners, and are proven line by line alone`;
  return told(
    true,
    `${batches === 1 ? "1 batch" : `${batches.toLocaleString("en")} batches`}, ${sayNano(cost)}${taken}`,
  );
}

/** What a batch that has ended cannot be. */
function ownFault(batch: Batch): string | undefined {
  if (!isEnd(batch.state)) return "has ended, and its state says otherwise";
  if (batch.held !== 0) return `has ended, and holds ${sayNano(batch.held)}`;
  if (batch.state === "refused") return undefined;
  const ended = endedLines(batch);
  return ended === batch.lines ? undefined : `has ${batch.lines} lines, of which ${ended} have ended`;
}

function sumFault({ cost, usage }: Batch, sums: Sums): string | undefined {
  if (cost !== sums.cost) return `cost ${cost} nano-dollars, and its lines ${sums.cost}`;
  const tokens = (input: number, output: number) => `${input} tokens of input and ${output} of output`;
  if (usage.input === sums.input && usage.output === sums.output) return undefined;
  return `counts ${tokens(usage.input, usage.output)}, and its lines ${tokens(sums.input, sums.output)}`;
}

async function sumsOf(sql: Sql, batch: string): Promise<Sums> {
  const sums: Sums = { cost: 0, input: 0, output: 0 };
  for (let after = 0; ;) {
    const rows = await sql.all<{ number: number | string; cost: number | string; usage: string }>(
      `SELECT number, cost, usage FROM batches_calls WHERE batch = $1 AND number > $2 ORDER BY number LIMIT ${SLAB}`,
      [batch, after],
    );
    for (const { cost, usage } of rows) {
      const { input, cacheRead, cacheWrite, output } = JSON.parse(usage) as Usage;
      sums.cost += Number(cost);
      sums.input += input + cacheRead + cacheWrite;
      sums.output += output;
    }
    after = Number(rows.at(-1)?.number ?? 0);
    if (rows.length < SLAB) return sums;
  }
}
