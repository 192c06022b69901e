/** The charge of an attempt, from what is known of its end. */
import type { BesideUsage, Usage } from "../../core/events.ts";
import { NO_USAGE, usageState } from "../../core/events.ts";
import type { Charge, PriceRule } from "../charge.ts";
import type { Nano } from "../money.ts";
import { CONFIG_SOURCE, isFree, type Priced, priceUsage } from "./price.ts";

/**
 * How far an attempt came. `unsent`: nothing left weir. `refused`: the provider answered with an error. `sent`: all others,
 * so that the provider may charge even without an answer.
 */
export type Reach = "unsent" | "refused" | "sent";

export interface Used {
  reach: Reach;
  /** The provider's counts. */
  usage: Usage;
  /** `usage` with weir's estimate for what the provider has not counted: for answers that were cut. */
  estimate?: Usage;
  /** The cost that is assumed for an attempt without counts and without an answer. */
  assumed?: Nano;
  /** Where the deployment runs. What the provider says of the answer is before it. */
  region?: string;
}

/** The price of another model of the same provider. */
export type RuleOf = (model: string) => PriceRule | undefined;

/** @param rule the price of the target; absent: unknown */
export function chargeOf(
  { reach, usage, estimate, assumed = 0, region }: Used,
  rule: PriceRule | undefined,
  ruleOf?: RuleOf,
): Charge {
  if (reach === "unsent") return { state: "free", cost: 0 };
  const { reported } = usage;
  if (reported !== undefined && rule?.source !== CONFIG_SOURCE) return { state: "reported", cost: reported };
  const known = usageState(usage);
  if (reach === "refused" && known === "absent") return { state: "free", cost: 0 };
  if (!rule) return { state: "unpriced", cost: 0 };
  if (isFree(rule)) return { state: "free", cost: 0, price: rule.ref };
  if (known === "final") return counted(inRegion(usage, region), rule, ruleOf);
  if (estimate || known === "partial")
    return partial(counted(inRegion(estimate ?? usage, region), rule, ruleOf));
  return { state: "assumed", cost: assumed, price: rule.ref };
}

function partial(charge: Charge): Charge {
  return charge.state === "unpriced" ? charge : { ...charge, state: "estimated" };
}

function inRegion(usage: Usage, region: string | undefined): Usage {
  return region === undefined || usage.region !== undefined ? usage : { ...usage, region };
}

function counted(usage: Usage, rule: PriceRule, ruleOf: RuleOf | undefined): Charge {
  const priced = priceUsage(usage, rule);
  const { cost, doubt } = usage.beside ? withOthers(priced, usage.beside, rule, ruleOf) : priced;
  if (doubt === "unit" && cost === 0) return { state: "unpriced", cost };
  return doubt === undefined
    ? { state: "metered", cost, price: rule.ref }
    : { state: "estimated", cost, price: rule.ref, doubt };
}

function withOthers(
  { cost, doubt }: Priced,
  others: readonly BesideUsage[],
  rule: PriceRule,
  ruleOf: RuleOf | undefined,
): Priced {
  let total = cost;
  let unsure = doubt;
  for (const { model, ...counts } of others) {
    const own = model === undefined || model === rule.model ? rule : ruleOf?.(model);
    if (!own) unsure ??= "model";
    const priced = priceUsage({ ...NO_USAGE, ...counts }, { ...(own ?? rule), per: undefined });
    total += priced.cost;
    unsure ??= priced.doubt;
  }
  return { cost: total, ...(unsure !== undefined && { doubt: unsure }) };
}
