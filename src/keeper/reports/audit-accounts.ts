/** The part of the audit about budgets: what their accounts say against what was charged. */
import { CHARGE_STATES } from "../../ledger/charge.ts";
import { sayNano, type Nano } from "../../ledger/money.ts";
import { readBudgets } from "../store/policies.ts";
import type { Sql } from "../store/sql.ts";
import { ATTEMPTS, counted } from "./attempts.ts";
import type { AuditCheck } from "./shapes.ts";

const ASSUMED = CHARGE_STATES.indexOf("assumed");

export interface Amounts {
  spent: Nano;
  assumed: Nano;
  overrun: Nano;
}

export interface Account extends Amounts {
  account: string;
  budget: string;
  starts_at: number;
  granted: Nano;
}

const readAccounts = (sql: Sql) =>
  sql.all<Account>(
    "SELECT account, budget, starts_at, spent, assumed, overrun, granted FROM accounts ORDER BY account",
  );

/** The sums by account of the charges of all calls, also of deleted ones. */
async function chargedTo(sql: Sql): Promise<Map<string, Amounts>> {
  const sets = await sql.all<Amounts & { accounts: string | null }>(
    `SELECT names.text AS accounts, sum(spent) AS spent, sum(assumed) AS assumed, sum(overrun) AS overrun FROM (
       SELECT accounts, CASE WHEN state = ${ASSUMED} THEN 0 ELSE cost END AS spent,
         CASE WHEN state = ${ASSUMED} THEN cost ELSE 0 END AS assumed,
         CASE WHEN cost > held THEN cost - held ELSE 0 END AS overrun FROM (${ATTEMPTS}) AS attempts
       UNION ALL SELECT accounts, spent, assumed, overrun FROM deleted_charges
     ) AS charged LEFT JOIN names ON names.id = charged.accounts GROUP BY names.text`,
  );
  const charged = new Map<string, Amounts>();
  const add = (account: string, { spent, assumed, overrun }: Amounts) => {
    const sum = charged.get(account) ?? { spent: 0, assumed: 0, overrun: 0 };
    charged.set(account, {
      spent: sum.spent + spent,
      assumed: sum.assumed + assumed,
      overrun: sum.overrun + overrun,
    });
  };
  for (const { accounts, ...amounts } of sets)
    for (const account of JSON.parse(accounts ?? "[]") as string[]) add(account, amounts);
  const assumptions = await sql.all<{ account: string; amount: Nano }>(
    "SELECT account, sum(amount) AS amount FROM assumptions GROUP BY account",
  );
  for (const { account, amount } of assumptions) add(account, { spent: 0, assumed: amount, overrun: 0 });
  return charged;
}

/** Whether a window must exist for what was charged to it: the first charge that is not free makes it. */
export function isSomething({ spent, assumed, overrun }: Amounts): boolean {
  return spent !== 0 || assumed !== 0 || overrun !== 0;
}

/** Whether a budget is hard, and was not changed since a time: only then its limit and its overruns are those of the whole window. */
export async function hardSince(sql: Sql): Promise<(budget: string, since: number) => boolean> {
  const budgets = await readBudgets(sql, "mode = 'hard'");
  const changes = await sql.all<{ subject: string; at: number }>(
    "SELECT subject, max(at) AS at FROM audit WHERE action <> 'create' AND subject LIKE 'budgets/%' GROUP BY subject",
  );
  const changed = new Map(changes.map(({ subject, at }) => [subject, at]));
  const hard = new Set(budgets.map(({ id }) => id));
  return (budget, since) => hard.has(budget) && (changed.get(`budgets/${budget}`) ?? -1) < since;
}

/** @param sum of what was charged to a window and assumed of it @param wasHard as {@link hardSince} @returns what differs */
export function accountFault(
  { account, budget, starts_at: startsAt, spent, assumed, overrun }: Account,
  sum: Amounts,
  wasHard: (budget: string, since: number) => boolean,
): string | undefined {
  if (sum.spent !== spent) return `${account} says ${spent} spent, its charges ${sum.spent}`;
  if (sum.assumed !== assumed) return `${account} says ${assumed} assumed, its charges ${sum.assumed}`;
  if (overrun > sum.overrun || (overrun < sum.overrun && wasHard(budget, startsAt)))
    return `${account} says ${overrun} overrun, its charges ${sum.overrun}`;
  return undefined;
}

export async function checkAccounts(sql: Sql): Promise<AuditCheck> {
  const name = "budgets count what was charged and assumed";
  const charged = await chargedTo(sql);
  const accounts = await readAccounts(sql);
  const wasHard = await hardSince(sql);
  const wrong: string[] = [];
  for (const row of accounts) {
    const { account } = row;
    const sum = charged.get(account) ?? { spent: 0, assumed: 0, overrun: 0 };
    charged.delete(account);
    const fault = accountFault(row, sum, wasHard);
    if (fault !== undefined) wrong.push(fault);
  }
  for (const [account, sum] of charged)
    if (isSomething(sum)) wrong.push(`charges name ${account}, which does not exist`);
  if (wrong.length > 0)
    return { name, holds: false, detail: `${wrong.length} do not: ${wrong[0]!} (nano-dollars)` };
  return { name, holds: true, detail: `${counted(accounts.length, "window")}, to the nano-dollar` };
}

/** A budget whose limit or mode was changed in a window may be above its limit there: the audit log has the change. */
export async function checkLimits(sql: Sql): Promise<AuditCheck> {
  const name = "no hard budget is over its limit";
  const budgets = new Map((await readBudgets(sql, "mode = 'hard'")).map((budget) => [budget.id, budget]));
  const wasHard = await hardSince(sql);
  const over: string[] = [];
  let checked = 0;
  for (const {
    account,
    budget: id,
    starts_at: startsAt,
    spent,
    assumed,
    granted,
    overrun,
  } of await readAccounts(sql)) {
    const budget = budgets.get(id);
    if (!budget) continue;
    checked += 1;
    if (spent + assumed + granted <= budget.limit + overrun) continue;
    if (!wasHard(id, startsAt)) continue;
    over.push(`${account} has ${sayNano(spent + assumed + granted)} of ${sayNano(budget.limit)}`);
  }
  return {
    name,
    holds: over.length === 0,
    detail: over.length === 0 ? counted(checked, "window") : `${over.length} are: ${over[0]!}`,
  };
}

export async function checkGrants(sql: Sql): Promise<AuditCheck> {
  const wrong = await sql.all<{ account: string }>(
    `SELECT accounts.account AS account FROM accounts LEFT JOIN grants ON grants.account = accounts.account
     GROUP BY accounts.account, accounts.granted HAVING accounts.granted <> coalesce(sum(grants.amount), 0)`,
  );
  const [row] = await sql.all<{ granted: Nano }>("SELECT coalesce(sum(granted), 0) AS granted FROM accounts");
  return {
    name: "what is granted is what nodes have drawn",
    holds: wrong.length === 0,
    detail:
      wrong.length === 0
        ? `${sayNano(row!.granted)} is granted at this moment`
        : `${wrong.length} windows differ, the first is ${wrong[0]!.account}`,
  };
}

/** Overruns are allowed: a provider billed what was not sent. They are listed. */
export async function checkOverruns(sql: Sql): Promise<AuditCheck> {
  const [row] = await sql.all<{ calls: number; amount: Nano }>(
    `SELECT count(*) AS calls, coalesce(sum(cost - held), 0) AS amount FROM (${ATTEMPTS}) AS attempts
     WHERE cost > held AND held > 0`,
  );
  const { calls, amount } = row!;
  return {
    name: "overruns are listed",
    holds: true,
    detail: calls === 0 ? "none" : `${counted(calls, "attempt")} cost ${sayNano(amount)} more than was held`,
  };
}
