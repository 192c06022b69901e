/** Batches of records as bytes: so they are made once, and can be read from the memory of a worker that has died. */
import type { PriceRule } from "./charge.ts";
import { readPacked } from "./record-reader.ts";
import type { CallRecord, Entry, RecordBatch, Spend } from "./record.ts";

/** A batch as the worker sends it. */
export interface PackedBatch extends Pick<RecordBatch, "seq" | "spends" | "dropped"> {
  /** See ./layout.ts. */
  entries: Uint8Array;
}

const fromUtf8 = new TextDecoder();

/** @throws Error if the bytes are no batch */
export function unpack({ entries, ...batch }: PackedBatch): RecordBatch {
  return { ...batch, ...readEntries(entries) };
}

/** @throws Error if the bytes are no batch */
export function readEntries(bytes: Uint8Array): Pick<RecordBatch, "calls" | "prices"> {
  return divide(readPacked(bytes));
}

/** Reads entries of format 1, which were JSON with commas between them. @throws Error if they are not */
export function readFormerEntries(bytes: Uint8Array): Pick<RecordBatch, "calls" | "prices"> {
  return divide(JSON.parse(`[${fromUtf8.decode(bytes)}]`) as Entry[]);
}

function divide(entries: readonly Entry[]): Pick<RecordBatch, "calls" | "prices"> {
  const calls: CallRecord[] = [];
  const prices: PriceRule[] = [];
  for (const entry of entries)
    if ("price" in entry) prices.push(entry.price);
    else calls.push(entry);
  return { calls, prices };
}

/**
 * The amount of each account that records say was spent.
 * @param isHard whether the account is of a hard budget: others have no overruns
 */
export function spendsOf(calls: readonly CallRecord[], isHard: (account: string) => boolean): Spend[] {
  const spends = new Map<string, Spend>();
  for (const { attempts } of calls)
    for (const { charge, held, accounts } of attempts) {
      if (charge.cost === 0) continue;
      for (const account of accounts) {
        const spend = spends.get(account) ?? { account, spent: 0, assumed: 0, overrun: 0 };
        spends.set(account, spend);
        spend[charge.state === "assumed" ? "assumed" : "spent"] += charge.cost;
        if (isHard(account)) spend.overrun += Math.max(0, charge.cost - held);
      }
    }
  return [...spends.values()];
}
