/** A charge as lines of a ledger: what was counted, its price, and amounts that add up to the charge. */
import type { Usage } from "../../core/events.ts";
import type { BucketPrices, Charge, PriceRule } from "../charge.ts";
import type { Nano } from "../money.ts";
import { addBuckets, addUnits, factorFor } from "./price.ts";
import { SEARCH_AT_MOST } from "./unknown.ts";

export interface ChargeLine {
  /**
   * A bucket of tokens, or a fee: `searches`, `searched` (a request with a search), `request`. `held`: what an assumed charge has
   * besides, because all that was held is assumed to be spent. `unit:` and a name: other units.
   */
  what: keyof BucketPrices | "searches" | "searched" | "request" | "held" | `unit:${string}`;
  count: number;
  /** Pico-dollars a token, with the factors of region and speed; absent for fees. */
  price?: number;
  amount: Nano;
}

/**
 * The lines of a charge that a rule has priced. What rounding leaves over is added to the largest amount.
 * @returns undefined if the rule does not lead to this charge: it is the provider's own, or its counts were not kept
 */
export function linesOf(usage: Usage, { cost, state }: Charge, rule: PriceRule): ChargeLine[] | undefined {
  const factor = factorFor(usage, rule);
  const lines: ChargeLine[] = [];
  addBuckets(usage, rule, {
    add(count, unit, what) {
      if (count === 0) return;
      const price = factor === 1 ? unit : Math.round(unit * factor);
      lines.push({ what, count, price, amount: roundedNano(count, price) });
    },
  });
  addUnits(usage, rule, {
    addUnits(count, unitPrice, unit) {
      if (count > 0) lines.push({ what: `unit:${unit}`, count, amount: roundedNano(count, unitPrice) });
    },
  });
  const { searched = 0, request = 0 } = rule.per ?? {};
  const { searches = 0 } = usage;
  const search = rule.per?.search ?? (searched > 0 ? 0 : SEARCH_AT_MOST);
  if (searches > 0 && search > 0)
    lines.push({ what: "searches", count: searches, amount: searches * search });
  if (searches > 0 && searched > 0) lines.push({ what: "searched", count: 1, amount: searched });
  if (request > 0) lines.push({ what: "request", count: 1, amount: request });
  const left = cost - lines.reduce((sum, { amount }) => sum + amount, 0);
  if (state === "assumed" && left > lines.length / 2 + 1)
    return [...lines, { what: "held", count: 1, amount: left }];
  // Each line is rounded by at most half a nano-dollar, and the charge once more.
  if (Math.abs(left) > lines.length / 2 + 1) return undefined;
  const largest = lines.toSorted((a, b) => b.amount - a.amount)[0];
  if (largest) largest.amount += left;
  return lines;
}

/** Tokens or units times pico-dollars in nano-dollars. Whole nano-dollars and the rest apart: a product can exceed 2^53. */
function roundedNano(tokens: number, price: number): Nano {
  const rest = price % 1_000;
  return tokens * ((price - rest) / 1_000) + Math.round((tokens * rest) / 1_000);
}
