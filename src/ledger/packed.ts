/** Batches of records as bytes: so they are made once, and can be read from the memory of a worker that has died. */
import type { PriceRule } from "./charge.ts";
import type { CallRecord, RecordBatch, Spend } from "./record.ts";

/** A batch as the worker sends it. */
export interface PackedBatch extends Pick<RecordBatch, "seq" | "spends" | "dropped"> {
  /** Entries as JSON in UTF-8, with commas between them. */
  entries: Uint8Array;
}

/** The record of a call, or a rule that the charges of later records refer to. */
export type Entry = CallRecord | { price: PriceRule };

const fromUtf8 = new TextDecoder();

export function unpack({ entries, ...batch }: PackedBatch): RecordBatch {
  return { ...batch, ...readEntries(entries) };
}

export function readEntries(bytes: Uint8Array): Pick<RecordBatch, "calls" | "prices"> {
  const entries = JSON.parse(`[${fromUtf8.decode(bytes)}]`) as Entry[];
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
