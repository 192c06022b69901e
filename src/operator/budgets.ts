/** Budgets: their figures, and what creates and changes them. */
import {
  answer,
  CLOSED,
  LIMIT,
  MODE,
  NAME,
  nano,
  PAGE,
  pageOf,
  request,
  SETS,
  SUBJECT,
  time,
  WARNINGS,
  WINDOW,
  words,
} from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";

const BUDGET = {
  on: SUBJECT,
  window: WINDOW,
  zone: Type.String({ maxLength: 64, description: "IANA name of the time zone. Default UTC." }),
  limit: LIMIT,
  mode: MODE,
  onEmpty: Type.Union([
    words(["refuse"]),
    request({ use: Type.String({ minLength: 1, maxLength: 200, description: "Another model." }) }),
  ]),
  alerts: Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), {
    maxItems: 20,
    description: "Percentages of the limit.",
  }),
};

export const NewBudget = request({
  name: NAME,
  on: BUDGET.on,
  window: Type.Optional(BUDGET.window),
  zone: Type.Optional(BUDGET.zone),
  limit: BUDGET.limit,
  mode: Type.Optional(BUDGET.mode),
  onEmpty: Type.Optional(BUDGET.onEmpty),
  alerts: Type.Optional(BUDGET.alerts),
});
export type NewBudget = Static<typeof NewBudget>;
export const BudgetChange = Type.Partial(request({ name: NAME, ...BUDGET }), CLOSED);
export type BudgetChange = Static<typeof BudgetChange>;
export const BudgetRaise = request({ limit: LIMIT });
export type BudgetRaise = Static<typeof BudgetRaise>;

export const Budget = answer({
  id: Type.String(),
  name: Type.String(),
  ...BUDGET,
  source: words(["config", "store"]),
  sets: SETS,
  warnings: WARNINGS,
  version: Type.String({ description: "For `If-Match`." }),
  windows: Type.Array(
    answer({
      account: Type.String(),
      startsAt: time(""),
      endsAt: Type.Optional(time("")),
      spent: nano("Charges that are known."),
      assumed: nano("Charges whose amount cannot be known."),
      held: nano("What running attempts of this node may still cost."),
      granted: nano("What workers and nodes have been granted and have not spent, `held` included."),
      overrun: nano("What charges exceeded their holds by."),
      left: nano(
        "The limit without what is spent, assumed and held. It includes what is granted and not held.",
      ),
      forecast: Type.Optional(
        nano(
          "What will be spent at the end of the window, at the pace of the window so far or of the last hour, whichever is faster.",
        ),
      ),
    }),
    { description: "The open window, and ended ones that are not settled." },
  ),
  pace: Type.Optional(nano("What calls of the last hour or two cost, an hour.")),
  refused: Type.Optional(
    Type.Integer({
      description:
        "Calls that it counts and that a budget refused since `refusedFrom`; 0 if none was refused in the last hour.",
    }),
  ),
  refusedFrom: Type.Optional(time("")),
});
export type Budget = Static<typeof Budget>;

const ONE = { name: "Budget", schema: Budget };

export const listBudgets = contract({
  method: "GET",
  path: "/admin/v1/budgets",
  id: "listBudgets",
  summary: "Budgets with what is spent, assumed, held and left of them",
  needs: { role: "read", on: "path" },
  query: request(PAGE),
  answer: { name: "Budgets", schema: pageOf("budgets", Budget) },
});

export const createBudget = contract({
  method: "POST",
  path: "/admin/v1/budgets",
  id: "createBudget",
  summary: "Creates a budget",
  needs: { role: "admin", on: "path" },
  body: NewBudget,
  answer: ONE,
  status: 201,
  errors: ["conflict", "not_permitted", "not_found"],
});

export const getBudget = contract({
  method: "GET",
  path: "/admin/v1/budgets/{id}",
  id: "getBudget",
  summary: "One budget, by id or name",
  needs: { role: "read", on: "path" },
  answer: ONE,
  errors: ["not_found"],
});

export const changeBudget = contract({
  method: "PATCH",
  path: "/admin/v1/budgets/{id}",
  id: "changeBudget",
  summary: "Changes a budget; a lower limit refuses from the next call",
  needs: { role: "admin", on: "path" },
  body: BudgetChange,
  answer: ONE,
  errors: ["not_found", "declared", "conflict", "not_permitted"],
});

export const raiseBudget = contract({
  method: "POST",
  path: "/admin/v1/budgets/{id}/raise",
  id: "raiseBudget",
  summary: "Sets a higher limit; calls are admitted again within a second",
  needs: { role: "admin", on: "path" },
  body: BudgetRaise,
  answer: ONE,
  errors: ["not_found", "declared"],
});

export const deleteBudget = contract({
  method: "DELETE",
  path: "/admin/v1/budgets/{id}",
  id: "deleteBudget",
  summary: "Deletes a budget; its windows stay in the books",
  needs: { role: "admin", on: "path" },
  answer: { name: "Deleted", schema: Type.Object({ id: Type.String(), deleted: Type.Boolean() }) },
  errors: ["not_found", "declared"],
});
