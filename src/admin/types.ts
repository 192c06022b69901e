/** The types of the admin API's requests and answers, for its clients. Only types: importing them loads nothing. */
import type { Static } from "@sinclair/typebox";
import type * as entries from "./schemas.ts";

export type * from "./schemas/books.ts";
export type * from "./schemas/cache.ts";
export type * from "./schemas/calls.ts";
export type * from "./schemas/captures.ts";
export type * from "./schemas/config.ts";
export type * from "./schemas/live.ts";
export type * from "./schemas/money.ts";
export type * from "./schemas/names.ts";
export type * from "./schemas/overview.ts";
export type * from "./schemas/providers.ts";
export type * from "./schemas/reports.ts";
export type * from "./schemas/routing.ts";
export type * from "./schemas/session.ts";

export type Key = Static<typeof entries.Key>;
export type NewKey = Static<typeof entries.NewKey>;
export type KeyChange = Static<typeof entries.KeyChange>;
export type CreatedKey = Static<typeof entries.CreatedKey>;
export type Budget = Static<typeof entries.Budget>;
export type NewBudget = Static<typeof entries.NewBudget>;
export type BudgetChange = Static<typeof entries.BudgetChange>;
export type BudgetRaise = Static<typeof entries.BudgetRaise>;
export type Rate = Static<typeof entries.Rate>;
export type NewRate = Static<typeof entries.NewRate>;
export type RateChange = Static<typeof entries.RateChange>;

/** The body of an answer that is no success. */
export interface ApiError {
  error: { code: string; message: string; path?: string };
}
