/** The answers behind the page Keys & budgets, as one. */
import type { listBudgets, listKeys, listRates, usage } from "../../data/types.ts";
import { now } from "../../data/clock.ts";
import { getAll } from "../../data/get-all.ts";
import { type ApiError, queryOf } from "../../data/api.ts";
import { type Reading, useApi } from "../../data/use-api.ts";
import { type KeysOverview, overviewOf } from "./overview.ts";

/** Figures are read again after this time. Milliseconds. */
const EVERY = 10_000;
const SUMS_EVERY = 30_000;

/** @param options.revoked revoked keys too */
export function useKeys({ revoked }: { revoked: boolean }): Reading<KeysOverview> {
  const month = new Date(now.value);
  const from = Date.UTC(month.getUTCFullYear(), month.getUTCMonth());
  const keys = useApi<typeof listKeys>(`/keys${queryOf({ limit: 500, revoked })}`, {
    every: SUMS_EVERY,
    read: getAll,
  });
  const budgets = useApi<typeof listBudgets>("/budgets?limit=500", { every: EVERY, read: getAll });
  const rates = useApi<typeof listRates>("/rates?limit=500", { every: SUMS_EVERY, read: getAll });
  const byKey = useApi<typeof usage>(`/usage${queryOf({ by: ["key"], from })}`, { every: SUMS_EVERY });
  const byPath = useApi<typeof usage>(`/usage${queryOf({ by: ["path"], from })}`, { every: SUMS_EVERY });

  const all = [keys, budgets, rates, byKey, byPath];
  const isThere = all.every(({ data }) => data !== undefined);
  return {
    data: isThere
      ? overviewOf(
          {
            ...keys.data!,
            budgets: budgets.data!.budgets,
            rates: rates.data!.rates,
            byKey: byKey.data!.rows,
            byPath: byPath.data!.rows,
          },
          now.value,
        )
      : undefined,
    error: all.map(({ error }) => error).find((error): error is ApiError => error !== undefined),
    busy: all.some(({ busy }) => busy),
    slow: all.some(({ slow }) => slow),
    at: budgets.at,
    again: () => {
      for (const reading of all) reading.again();
    },
  };
}
