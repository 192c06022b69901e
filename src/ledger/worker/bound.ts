/** What requests may cost that are not calls yet, and what hard budgets have left for them. */
import type { Attempt } from "../../core/call.ts";
import type { Admitted, BudgetLeft, CostBound } from "../../core/ledger.ts";
import type { KeyFigures } from "../messages.ts";
import type { Budget } from "../policy.ts";
import { budgetAccount } from "../record.ts";
import { windowAt } from "../windows.ts";
import { Booking } from "./booking.ts";
import { chargedSize } from "./estimate.ts";
import type { Estimates } from "./estimates.ts";
import type { Lines } from "./lines.ts";

/** The same estimate as that of a hold. @param attempt of what is not sent */
export function boundOf(
  attempt: Attempt,
  admitted: Pick<Admitted, "size">,
  outputShare: number,
  { lines, estimates }: { lines: Lines; estimates: Estimates },
): CostBound {
  const booking = new Booking(lines.to(attempt));
  booking.size = chargedSize(admitted.size(attempt.target), booking.applied.rule);
  const hard = booking.applied.lines.filter(
    ({ unit, mode, on }) => unit === "money" && mode === "hard" && on.kind !== "session",
  );
  return { cost: estimates.bound(booking, outputShare), budgets: hard.map(({ budget }) => budget!.id) };
}

/** Hard budgets in their windows at one moment. */
export class HardBudgets {
  /** Stands for a caller in the question to the keeper. */
  static readonly ASKS = "hard budgets";
  readonly #budgets: readonly (readonly [account: string, Budget])[];

  /** @param now milliseconds since 1970 */
  constructor(budgets: readonly Budget[], now: number) {
    this.#budgets = budgets
      .filter(({ mode, on }) => mode === "hard" && on.kind !== "session")
      .map((budget) => [budgetAccount(budget.id, windowAt(budget, now).startsAt), budget]);
  }

  get accounts(): readonly string[] {
    return this.#budgets.map(([account]) => account);
  }

  left({ accounts }: KeyFigures, isTold: boolean): ReadonlyMap<string, BudgetLeft> {
    const states = new Map(accounts.map((state) => [state.account, state]));
    return new Map(
      this.#budgets.map(([account, { id, name, limit }]) => {
        const { spent = 0, held = 0 } = states.get(account) ?? {};
        return [id, { name, left: Math.max(0, limit - spent - held), isTold }];
      }),
    );
  }
}
