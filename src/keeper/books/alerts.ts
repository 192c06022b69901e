/** Which percentages of a budget are reported: each once in a window. */
import type { Recorder } from "../record/recorder.ts";
import type { BudgetAccount } from "./budget-account.ts";
import type { Observers } from "./observers.ts";
import type { Reporter } from "./reporter.ts";

/** Reports the highest percentage that an account has reached and that is not yet reported, if there is one. */
export function noteAlert(
  account: BudgetAccount,
  recorder: Recorder,
  reporter: Reporter,
  observers: Observers,
): void {
  const percent = reachedPercent(account);
  if (percent === undefined) return;
  account.row = { ...account.row, alerted: percent };
  recorder.alert(account.id, percent);
  reporter.alert(account, percent);
  observers.alert(account.budget.id, percent, account);
}

function reachedPercent({ budget, row }: BudgetAccount): number | undefined {
  const used = row.spent + row.assumed;
  let reached: number | undefined;
  for (const percent of budget.alerts)
    if (percent > Math.max(row.alerted, reached ?? 0) && used * 100 >= percent * budget.limit)
      reached = percent;
  return reached;
}
