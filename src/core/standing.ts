/** What a caller has used of the budgets that count all of its calls, in numbers, for programs that show it to a person. */

/** How often a budget resets, in the words of programs. Blocks of hours count as days. */
export type CapPeriod = "daily" | "weekly" | "monthly";

/** A budget that refuses calls. Amounts are dollars. */
export interface Cap {
  readonly name: string;
  readonly period: CapPeriod;
  readonly limit: number;
  readonly spent: number;
  /** Milliseconds since 1970. */
  readonly resetsAt: number;
  /** It counts calls of others, too. */
  readonly isShared: boolean;
}

export interface Standing {
  /** Budgets that never reset are not among them. */
  readonly caps: readonly Cap[];
  /** What the calls at the caller's path and below have cost since the beginning of the UTC day, week (Monday) and month. */
  readonly spent: SpentLately;
}

/** Dollars. */
export interface SpentLately {
  readonly day: number;
  readonly week: number;
  readonly month: number;
}

/** The cap that describes a caller: the fullest, and of those that are spent the one that resets last. */
export function fullest<Any extends Pick<Cap, "limit" | "spent" | "resetsAt">>(
  caps: readonly Any[],
): Any | undefined {
  return caps.toSorted((a, b) => {
    const [one, other] = [Math.min(1, partOf(a)), Math.min(1, partOf(b))];
    return other - one || b.resetsAt - a.resetsAt;
  })[0];
}

/** The part of a cap that is used; above 1 once it is passed. */
export function partOf({ limit, spent }: Pick<Cap, "limit" | "spent">): number {
  return limit > 0 ? Math.max(0, spent / limit) : 1;
}
