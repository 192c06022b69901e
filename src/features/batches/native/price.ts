/** What a line costs in a batch of its provider. */
import type { Call } from "../../../core/call.ts";
import type { Charge } from "../../../ledger/charge.ts";
import { repriced } from "../../../ledger/repriced.ts";

/** The share of the ordinary price that a provider of the known ones takes. */
export const BATCH_FACTOR = 0.5;

/** Parts of a factor: an amount times an integer stays exact. */
const PARTS = 10_000;

/**
 * The charge of a line, from the one that an ordinary call would have: tiers and cache reads of that apply. A cost that the provider
 * itself has reported is what it takes. @param factor such as 0.5 @returns whole nano-dollars, rounded up
 */
export function batchPrice(charge: Charge, factor: number): Charge {
  if (charge.state === "reported") return charge;
  const parts = BigInt(Math.round(factor * PARTS));
  const cost = (BigInt(charge.cost) * parts + BigInt(PARTS - 1)) / BigInt(PARTS);
  return { ...charge, cost: Number(cost) };
}

/** The call is charged the price of a batch. Before its attempt. @param factor see {@link batchPrice} */
export function atBatchPrice(call: Call, factor: number): void {
  repriced.set(call, (charge) => batchPrice(charge, factor));
}
