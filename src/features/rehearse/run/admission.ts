/** What the ledger would refuse whatever has been spent: limits of a key, and models without a price under a hard budget. */
import type { Attempt } from "../../../core/call.ts";
import type { Admitted } from "../../../core/ledger.ts";
import type { JsonObject } from "../../../core/json.ts";
import { Booking } from "../../../ledger/worker/booking.ts";
import { Estimates } from "../../../ledger/worker/estimates.ts";
import type { Declaration } from "../../../ledger/worker/ledger.ts";
import { Lines } from "../../../ledger/worker/lines.ts";

/** The part of a ledger that foresees, without the books. */
export class Admission {
  readonly #lines: Lines;
  readonly #estimates: Estimates;

  constructor({ declared, prices, settings }: Pick<Declaration, "declared" | "prices" | "settings">) {
    this.#lines = new Lines(declared, prices);
    this.#estimates = new Estimates(() => settings);
  }

  /** @throws LedgerRefusal */
  foresee(attempt: Attempt, admitted: Admitted): JsonObject {
    const booking = new Booking(this.#lines.to(attempt));
    if (attempt.call.principal !== undefined) this.#estimates.checkScopes(attempt, booking, admitted);
    if (booking.applied.needsSize) this.#estimates.estimate(attempt, booking, admitted);
    return {};
  }
}
