/** The budgets and limits of the policy, and which of them apply to the calls of a caller to a target. */
import type { Attempt } from "../../core/call.ts";
import { DISCOUNT } from "../../core/ledger.ts";
import type { Principal } from "../../core/principal.ts";
import type { ModelSets } from "../../core/model-sets.ts";
import type { Target } from "../../core/provider.ts";
import type { PriceRule } from "../charge.ts";
import type { Declared } from "../policy.ts";
import { type Applied, atDiscount, type DeploymentLoad } from "./booking.ts";
import { applies, budgetLine, isOnKey, rateLines } from "./line.ts";
import type { Line } from "./share.ts";

/** Finds the price of a target. */
export interface Prices {
  lookup(provider: string, model: string): PriceRule | undefined;
}

/** Stands for the calls without a caller. */
const NO_KEY = {};

export class Lines {
  /** By id of the budget, or account of the limit. */
  readonly #lines = new Map<string, Line>();
  readonly #prices: Prices;
  readonly #sets: ModelSets;
  readonly #running: Map<string, DeploymentLoad>;
  readonly #applied = new WeakMap<object, WeakMap<Target, Applied>>();

  /** @param earlier the lines of the policy before: shares that go on being used are taken over */
  constructor(
    { budgets, rates, modelSets = {} }: Pick<Declared, "budgets" | "rates" | "modelSets">,
    prices: Prices,
    earlier?: Lines,
  ) {
    this.#sets = modelSets;
    this.#prices = prices;
    this.#running = earlier ? earlier.#running : new Map<string, DeploymentLoad>();
    const before = earlier ? earlier.#lines : new Map<string, Line>();
    for (const budget of budgets) this.#lines.set(budget.id, budgetLine(budget, before.get(budget.id)));
    for (const limit of rates)
      for (const line of rateLines(limit, before)) this.#lines.set(line.account!, line);
  }

  /** Budgets and limits that apply to the calls of a caller to a target; the same object each time. */
  of(principal: Principal | undefined, target: Target): Applied {
    const key = principal ?? NO_KEY;
    let byTarget = this.#applied.get(key);
    if (!byTarget) this.#applied.set(key, (byTarget = new WeakMap()));
    let found = byTarget.get(target);
    if (!found) byTarget.set(target, (found = this.#compile(principal, target)));
    return found;
  }

  /** What applies to an attempt, at the prices of its call. */
  to({ call, target }: Attempt): Applied {
    const applied = this.of(call.principal, target);
    const discount = DISCOUNT.get(call);
    return discount === undefined || discount === 0 ? applied : atDiscount(applied, discount);
  }

  /** The lines that count the calls of a caller, whatever their target. */
  ofKey(principal: Principal): Line[] {
    return [...this.#lines.values()].filter(({ on }) => isOnKey(on, principal));
  }

  /** The limits on the number of calls of a caller, whatever their target. */
  ofCall(principal: Principal | undefined): Line[] {
    return [...this.#lines.values()].filter(
      ({ unit, on }) => (unit === "rpm" || unit === "rpd") && isOnKey(on, principal),
    );
  }

  /** The attempts that run, by deployment. */
  get running(): DeploymentLoad[] {
    return [...this.#running.values()].filter(({ calls }) => calls > 0);
  }

  #runningAt(deployment: string): DeploymentLoad {
    let found = this.#running.get(deployment);
    if (!found) this.#running.set(deployment, (found = { deployment, calls: 0 }));
    return found;
  }

  #compile(principal: Principal | undefined, target: Target): Applied {
    const prices = this.#prices;
    const lines = [...this.#lines.values()].filter(({ on }) => applies(on, principal, target, this.#sets));
    const { provider, model } = target;
    let found: { rule: PriceRule | undefined } | undefined;
    return {
      lines,
      // The price book is decoded at the first look-up, which must not delay the first answer.
      get rule() {
        return (found ??= { rule: prices.lookup(provider.name, model) }).rule;
      },
      ruleOf: (other) => prices.lookup(provider.name, other),
      running: this.#runningAt(target.deployment.name),
      target: `${provider.name}/${model}`,
      needsSize: lines.some(({ unit, mode }) => !COUNTS.has(unit) && mode !== "watch"),
      hasHard: lines.some(({ unit, mode }) => unit === "money" && mode === "hard"),
      hasSessions: lines.some(({ on }) => on.kind === "session"),
    };
  }
}

/** Units of which each call needs one. */
const COUNTS: ReadonlySet<Line["unit"]> = new Set(["rpm", "rpd", "concurrency"]);
