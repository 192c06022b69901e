/** Names of marks and counters in the table `meta`. */

/** Hard budgets grant nothing until an administrator releases them. */
export const HARD_CLOSED = "hard_closed";
