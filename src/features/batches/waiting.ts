/**
 * What batches wait for together: the parts of hard budgets that their lines may need, and their tokens. The store decides, in the
 * transaction that makes a batch, so that two batches that fit alone, and not together, are not both taken.
 */
import type { Sql } from "../../keeper/store/sql.ts";
import type { Nano } from "../../ledger/money.ts";
import { type Batch, endedLines } from "./batch.ts";
import type { Owner } from "./owner.ts";

/** What a batch may need of a hard budget. Nano-dollars. */
export interface Need {
  /** Id of the budget. */
  readonly budget: string;
  readonly needed: Nano;
  /** The limit without what is spent and held. */
  readonly left: Nano;
  /** Whether clients see the amount. */
  readonly isTold: boolean;
}

/** Bytes of an input for a token, as weir expects it of text. Exact counts would take longer than the check of the input. */
const TOKEN_BYTES = 4;

/** The tokens of an input. @param bytes of its file */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / TOKEN_BYTES);
}

/**
 * @param needs of the batch @param id of the batch, which does not wait for itself
 * @returns that of the budget that lacks most, with what waiting batches leave of it; undefined: the batch fits
 */
export async function excessIn(sql: Sql, needs: readonly Need[], id: string): Promise<Need | undefined> {
  if (needs.length === 0) return undefined;
  const reserved = new Map<string, Nano>();
  for (const batch of await openIn(sql, "id <> $1", [id]))
    for (const [budget, amount] of Object.entries(batch.reserved ?? {}))
      reserved.set(budget, (reserved.get(budget) ?? 0) + Math.ceil(amount * shareLeft(batch)));
  return needs
    .map((need) => ({ ...need, left: Math.max(0, need.left - (reserved.get(need.budget) ?? 0)) }))
    .filter(({ needed, left }) => needed > left)
    .sort((a, b) => b.needed - b.left - (a.needed - a.left))[0];
}

/** Tokens of the lines of a key that wait. */
export async function queuedIn(sql: Sql, { path, key }: Pick<Owner, "path" | "key">): Promise<number> {
  const open = await openIn(sql, "path = $1 AND key_id IS NOT DISTINCT FROM $2", [path, key ?? null]);
  return open.reduce((sum, batch) => sum + Math.ceil((batch.tokens ?? 0) * shareLeft(batch)), 0);
}

/** What waits of a batch by budget, for its row. */
export function reservedBy(needs: readonly Need[]): NonNullable<Batch["reserved"]> {
  return Object.fromEntries(needs.map(({ budget, needed }) => [budget, needed]));
}

/** The share of its lines that has not ended: what ended lines cost is spent, or was given back. */
function shareLeft(batch: Batch): number {
  return batch.lines === 0 ? 1 : 1 - endedLines(batch) / batch.lines;
}

async function openIn(sql: Sql, condition: string, values: readonly (string | null)[]): Promise<Batch[]> {
  const rows = await sql.all<{ batch: string }>(
    `SELECT batch FROM batches WHERE ended IS NULL AND ${condition}`,
    [...values],
  );
  return rows.map(({ batch }) => (JSON.parse(batch) as { batch: Batch }).batch);
}
