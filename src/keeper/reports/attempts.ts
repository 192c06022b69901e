/** The attempts of all calls, wherever they are. */

/** All attempts with their charges: of a call with one attempt from its row, of others from `charges`. */
export const ATTEMPTS = `SELECT calls.number, calls.at, calls.caller, calls.target, calls.cost, calls.held, calls.state, calls.price, calls.accounts
    FROM calls WHERE calls.tries = 1
  UNION ALL
  SELECT charges.number, calls.at, calls.caller, charges.target, charges.cost, charges.held, charges.state, charges.price, charges.accounts
    FROM charges JOIN calls ON calls.number = charges.number WHERE calls.tries > 1`;

/** `1 call`, `2 calls`, `1,678 calls`. */
export function counted(count: number, what: string): string {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}
