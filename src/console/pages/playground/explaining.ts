/** The explanation of a request, asked for while it is written. */
import type { Explained } from "../../data/types.ts";
import type { Reading } from "../../data/use-api.ts";

export type Explaining = Reading<Explained>;
export type Explanation = NonNullable<Explained["explained"]>;

/** Member `cost` of an explanation. Amounts are dollars. */
export interface Cost {
  /** The hold of the call: its most likely upper bound. Null: the model has no price. */
  hold: number | null;
  most: number | null;
  tokens: { input: number; output: number };
  budgets: readonly { name: string; mode: string; on: string; window: string; limit: number }[];
  rates: readonly { name: string; unit: string; on: string; need: number }[];
}

export function costOf(explanation: Pick<Explanation, "cost"> | undefined): Cost | undefined {
  const cost = explanation?.cost;
  return typeof cost === "object" && cost !== null ? (cost as Cost) : undefined;
}

/** Dollars as nano-dollars. */
export const nanoOf = (amount: number): number => Math.round(amount * 1e9);

/** The message of an error in any client format. */
export function messageOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  const inner: unknown = "error" in error ? error.error : error;
  if (typeof inner === "object" && inner !== null && "message" in inner) return String(inner.message);
  return JSON.stringify(inner);
}
