/** The answers of the admin API, from its schemas. */
import type { Budget } from "../../operator/index.ts";

export type * from "../../operator/index.ts";

export type BudgetWindow = Budget["windows"][number];
