/** What the admin API answers, from its schemas. */
import type { Static } from "@sinclair/typebox";
import type * as schemas from "../../admin/schemas.ts";

export type * from "../../admin/schemas/books.ts";
export type * from "../../admin/schemas/cache.ts";
export type * from "../../admin/schemas/calls.ts";
export type * from "../../admin/schemas/captures.ts";
export type * from "../../admin/schemas/config.ts";
export type * from "../../admin/schemas/live.ts";
export type * from "../../admin/schemas/money.ts";
export type * from "../../admin/schemas/names.ts";
export type * from "../../admin/schemas/overview.ts";
export type * from "../../admin/schemas/providers.ts";
export type * from "../../admin/schemas/reports.ts";
export type * from "../../admin/schemas/routing.ts";
export type * from "../../admin/schemas/session.ts";

export type Key = Static<typeof schemas.Key>;
export type NewKey = Static<typeof schemas.NewKey>;
export type CreatedKey = Static<typeof schemas.CreatedKey>;
export type Budget = Static<typeof schemas.Budget>;
export type NewBudget = Static<typeof schemas.NewBudget>;
export type BudgetWindow = Budget["windows"][number];
export type Rate = Static<typeof schemas.Rate>;

/** The proof that the books agree. */
export interface AuditReport {
  holds: boolean;
  checks: { name: string; holds: boolean; detail: string }[];
}
