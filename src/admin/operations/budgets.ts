/** Budgets: list with their figures, create, change, raise, delete. */
import type { Budget, Subject } from "../../ledger/policy.ts";
import { windowAt } from "../../ledger/windows.ts";
import type { AccountFigures } from "../books.ts";
import {
  actorOf,
  expectFreeName,
  expectSubject,
  expectVersion,
  findRule,
  newId,
  page,
  seesSubject,
  versionOf,
} from "../entries.ts";
import { type BudgetCourse, courseOf } from "../budget-course.ts";
import { declared, invalid, notFound } from "../../operator/errors.ts";
import { modelsOf, setsOf } from "../model-sets.ts";
import { modelWarnings } from "../model-warnings.ts";
import { type AdminRequest, answers } from "../operation.ts";
import {
  changeBudget,
  createBudget,
  deleteBudget,
  getBudget,
  listBudgets,
  raiseBudget,
} from "../../operator/budgets.ts";

type Given = Pick<AdminRequest, "books" | "caller" | "headers" | "now">;

/** A lower limit that is not zero is refused: it is an amount in dollars. */
const SMALLEST_LIMIT = 100_000;

const HOUR_MS = 3_600_000;

export const budgetOperations = [
  answers(listBudgets, async (given) => {
    const { books, caller, query, now } = given;
    const policy = books.policy();
    const visible = policy.budgets.filter(({ on }) => seesSubject(caller, on, policy));
    const { entries, next } = page(visible, query);
    const [accounts, course] = await Promise.all([books.accounts(), courseOf(entries, books, now)]);
    const budgets = entries.map((entry) => viewOf(entry, accounts, given, course.get(entry.id)));
    return { json: { budgets, ...(next && { next }) } };
  }),
  answers(createBudget, async (given) => {
    const { books, body } = given;
    const on = expectSubject(given, body.on);
    const name = expectFreeName("budget", books.policy().budgets, body.name);
    return save(newBudget({ ...body, name, on }), given);
  }),
  answers(getBudget, (given) => answerOf(findBudget(given, given.params.id), given)),
  answers(changeBudget, async (given) => {
    const { books, body, params } = given;
    const budget = storedBudget(given, params.id);
    const { budgets } = books.policy();
    const name =
      body.name === undefined ? budget.name : expectFreeName("budget", budgets, body.name, budget.id);
    const on = body.on === undefined ? budget.on : expectSubject(given, body.on);
    return save({ ...budget, ...body, name, on }, given);
  }),
  answers(raiseBudget, async (given) => {
    const { body, params } = given;
    const budget = storedBudget(given, params.id);
    if (body.limit < budget.limit)
      throw invalid(
        "The limit is lower than the present one; change the budget with PATCH instead.",
        "/limit",
      );
    return save({ ...budget, limit: body.limit }, given);
  }),
  answers(deleteBudget, async (given) => {
    const { books, caller, params } = given;
    const { id } = storedBudget(given, params.id);
    if (!(await books.deleteBudget(id, actorOf(caller)))) throw notFound("budget", id);
    return { json: { id, deleted: true } };
  }),
];

/** Fills in the defaults. */
export function newBudget(given: Pick<Budget, "name" | "limit"> & { on: Subject } & Partial<Budget>): Budget {
  return {
    window: "month",
    zone: "UTC",
    mode: "soft",
    onEmpty: "refuse",
    alerts: [80, 100],
    ...given,
    id: newId("budget_"),
    source: "store",
  };
}

/** @throws AdminError 400 for an amount that was written in dollars */
export function expectAmount(limit: number, path = "/limit"): void {
  if (limit > 0 && limit < SMALLEST_LIMIT)
    throw invalid(`Amounts are nano-dollars: $${limit} is ${limit}000000000.`, path);
}

function expectValid({ limit, zone, alerts }: Budget): void {
  expectAmount(limit);
  if (new Set(alerts).size !== alerts.length) throw invalid("A percentage is given twice.", "/alerts");
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
  } catch {
    throw invalid("The zone must be an IANA name, such as Europe/Berlin.", "/zone");
  }
}

async function save(budget: Budget, given: Given) {
  expectValid(budget);
  await given.books.saveBudget(budget, actorOf(given.caller));
  const { json, version } = await answerOf(budget, given);
  const warned = await modelWarnings(given, `the budget ${budget.name}`, modelsOf(budget.on));
  return { json: { ...json, ...warned }, version };
}

function findBudget(given: Given, id: string): Budget {
  return findRule("budget", given.books.policy().budgets, given, id);
}

function storedBudget(given: Given, id: string): Budget {
  const budget = findBudget(given, id);
  if (budget.source === "config") throw declared("budget", budget.name);
  expectVersion(given.headers, budget);
  return budget;
}

async function answerOf(budget: Budget, given: Pick<Given, "books" | "now">) {
  const view = viewOf(budget, await given.books.accounts(), given);
  return { json: view, version: view.version };
}

function viewOf(
  budget: Budget,
  accounts: readonly AccountFigures[],
  given: Pick<Given, "books" | "now">,
  course?: BudgetCourse,
) {
  const windows = accounts
    .filter((account) => account.budget === budget.id)
    .sort((a, b) => b.startsAt - a.startsAt)
    .map((account) => windowOf(account, budget, given.now, course));
  return { ...budget, ...setsOf(given, modelsOf(budget.on)), windows, ...course, version: versionOf(budget) };
}

/** @param course without it the pace is that since the window began */
function windowOf(account: AccountFigures, budget: Budget, now: number, course?: BudgetCourse) {
  const { limit } = budget;
  const { startsAt, spent, assumed, overrun, granted, held } = account;
  // The account of a budget that only counts has no end of its own.
  const endsAt = account.endsAt ?? windowAt(budget, startsAt).endsAt;
  const booked = spent + assumed;
  const elapsed = now - startsAt;
  const isOpen = endsAt !== undefined && elapsed > 0 && now < endsAt;
  return {
    account: account.account,
    startsAt,
    ...(endsAt !== undefined && { endsAt }),
    spent,
    assumed,
    held,
    granted,
    overrun,
    left: limit - booked - held,
    ...(isOpen && {
      forecast: Math.round(
        booked + Math.max(booked / elapsed, (course?.pace ?? 0) / HOUR_MS) * (endsAt - now),
      ),
    }),
  };
}
