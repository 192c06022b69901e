/** The charge of an attempt, from what is known of its end. */
import type { Usage } from "../../core/events.ts";
import { usageState } from "../../core/events.ts";
import type { Charge, PriceRule } from "../charge.ts";
import type { Nano } from "../money.ts";
import { CONFIG_SOURCE, isFree, priceUsage } from "./price.ts";

/**
 * How far an attempt came. `unsent`: nothing left weir. `refused`: the provider answered with an error. `sent`: all others,
 * so that the provider may charge even without an answer.
 */
export type Reach = "unsent" | "refused" | "sent";

export interface Used {
  reach: Reach;
  /** What the provider counted. */
  usage: Usage;
  /** `usage` with weir's estimate for what the provider has not counted: for answers that were cut. */
  estimate?: Usage;
  /** What an attempt without counts and without an answer is assumed to cost. */
  assumed?: Nano;
}

/** @param rule the price of the target; absent: unknown */
export function chargeOf({ reach, usage, estimate, assumed = 0 }: Used, rule: PriceRule | undefined): Charge {
  if (reach === "unsent") return { state: "free", cost: 0 };
  const { reported } = usage;
  if (reported !== undefined && rule?.source !== CONFIG_SOURCE) return { state: "reported", cost: reported };
  const known = usageState(usage);
  if (reach === "refused" && known === "absent") return { state: "free", cost: 0 };
  if (!rule) return { state: "unpriced", cost: 0 };
  if (isFree(rule)) return { state: "free", cost: 0, price: rule.ref };
  if (known === "final") return counted(usage, rule);
  if (estimate || known === "partial") return { ...counted(estimate ?? usage, rule), state: "estimated" };
  return { state: "assumed", cost: assumed, price: rule.ref };
}

function counted(usage: Usage, rule: PriceRule): Charge {
  const { cost, doubt } = priceUsage(usage, rule);
  return doubt === undefined
    ? { state: "metered", cost, price: rule.ref }
    : { state: "estimated", cost, price: rule.ref, doubt };
}
