/** Amounts that the estimates of workers lacked. */
import type { Margin } from "../../ledger/margins.ts";
import type { CallRecord } from "../../ledger/record.ts";

/** The margins that the estimates of some calls lacked. */
export function missedBy(calls: readonly CallRecord[]): Margin[] {
  return calls.flatMap(({ attempts }) =>
    attempts.flatMap(({ provider, model, missed: lacked = [] }) =>
      lacked.map((margin) => ({ target: `${provider}/${model}`, ...margin })),
    ),
  );
}
