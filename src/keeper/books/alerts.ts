/** Which percentages of a budget are reported: each once in a window. */
import type { BudgetAccount } from "./budget-account.ts";

/** @returns the highest percentage that was reached and not yet reported */
export function reachedPercent({ budget, row }: Pick<BudgetAccount, "budget" | "row">): number | undefined {
  const used = row.spent + row.assumed;
  let reached: number | undefined;
  for (const percent of budget.alerts)
    if (percent > Math.max(row.alerted, reached ?? 0) && used * 100 >= percent * budget.limit)
      reached = percent;
  return reached;
}
