/** The budgets of a caller, for features. Plugins do not see them. */
import type { LimitSource } from "./limit-figures.ts";
import type { Principal } from "./principal.ts";
import type { Cap } from "./standing.ts";

/** A source that also tells of all budgets of a caller. */
export interface CapSource extends LimitSource {
  /**
   * The budgets that count all calls of the caller, as far as the process knows them: what other processes may still spend counts
   * as spent. None, if clients see no amounts.
   */
  caps(principal: Principal): readonly Cap[];
}

/** The caps of a caller, if the source of a call knows them. */
export function capsOf(source: LimitSource | CapSource | undefined, principal: Principal): readonly Cap[] {
  return source && "caps" in source ? source.caps(principal) : [];
}
