/** Rows of a usage report by provider and model, as the arithmetic of prices needs them. */
import { NO_USAGE } from "../../core/events.ts";
import type { UsageRow } from "./shapes.ts";

export function usedOf(rows: readonly UsageRow[]) {
  return rows
    .filter(({ group }) => group.provider && group.model)
    .map(({ group, attempts, cost, ...sums }) => ({
      provider: group.provider!,
      model: group.model!,
      calls: attempts,
      cost,
      usage: {
        ...NO_USAGE,
        input: sums.input,
        cacheRead: sums.cacheRead,
        cacheWrite: sums.cacheWrite,
        cacheWrite1h: sums.cacheWrite1h,
        output: sums.output,
        reasoning: sums.reasoning,
        searches: sums.searches,
      },
    }));
}
