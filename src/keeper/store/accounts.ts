/** Windows of budgets in the store: what is drawn, spent and returned. */
import type { Nano } from "../../ledger/money.ts";
import { readAccount, type Spend } from "../../ledger/record.ts";
import { windowAt } from "../../ledger/windows.ts";
import { readBudgets } from "./policies.ts";
import type { Sql } from "./sql.ts";
import type { AccountRow, BookStore, Draw, Drawn } from "./store.ts";

interface StoredAccount {
  account: string;
  budget: string;
  starts_at: number;
  ends_at: number | null;
  spent: number;
  assumed: number;
  overrun: number;
  granted: number;
  alerted: number;
  own: number | null;
}

const SELECT = `SELECT accounts.*, grants.amount AS own FROM accounts
  LEFT JOIN grants ON grants.account = accounts.account AND grants.node = $1`;

export async function readAccounts(sql: Sql, node: string, now: number): Promise<AccountRow[]> {
  const rows = await sql.all<StoredAccount>(
    `${SELECT} WHERE accounts.ends_at IS NULL OR accounts.ends_at > $2 OR grants.amount <> 0 ORDER BY accounts.account`,
    [node, now],
  );
  return rows.map(toRow);
}

/** Ends the transaction of draws that cannot all be granted. */
class Refused extends Error {}

/**
 * Grants all draws or none, in one transaction.
 * @param note writes something in the same transaction when all are granted
 */
export async function drawAll(
  sql: Sql,
  node: string,
  draws: readonly Draw[],
  note?: (sql: Sql, amounts: ReadonlyMap<string, Nano>) => Promise<void>,
): Promise<Drawn[]> {
  // One order for all nodes: transactions that lock the same rows in different orders would wait for each other.
  const ordered = [...draws].sort((a, b) => (a.account < b.account ? -1 : 1));
  const amounts = await sql
    .transaction(async (inner) => {
      const granted = new Map<string, Nano>();
      for (const draw of ordered) granted.set(draw.account, await drawOne(inner, node, draw));
      await note?.(inner, granted);
      return granted;
    })
    .catch((cause: unknown) => {
      if (cause instanceof Refused) return undefined;
      throw cause;
    });
  return Promise.all(
    draws.map(async (draw) => ({
      amount: amounts?.get(draw.account) ?? 0,
      row: await readOne(sql, node, draw),
    })),
  );
}

async function drawOne(sql: Sql, node: string, draw: Draw): Promise<Nano> {
  const { account, limit, hard, need, want } = draw;
  await createAccount(sql, draw);
  // The statement that a hard limit rests on: the row is checked and changed at once.
  const [row] = await sql.all<{ room: number }>(
    hard
      ? `UPDATE accounts SET granted = granted + $2 WHERE account = $1 AND spent + assumed + granted + $2 <= $3
         RETURNING $3 - spent - assumed - granted AS room`
      : `UPDATE accounts SET granted = granted + $2 WHERE account = $1 AND spent + assumed + granted < $3
         RETURNING $3 - spent - assumed - granted AS room`,
    [account, need, limit],
  );
  if (!row) throw new Refused();
  // The transaction has the row, so no other node changes it between the two statements.
  const more = Math.max(0, Math.min(want - need, row.room));
  if (more > 0)
    await sql.run("UPDATE accounts SET granted = granted + $2 WHERE account = $1", [account, more]);
  await sql.run(
    `INSERT INTO grants (account, node, amount) VALUES ($1, $2, $3)
     ON CONFLICT (account, node) DO UPDATE SET amount = grants.amount + excluded.amount`,
    [account, node, need + more],
  );
  return need + more;
}

async function createAccount(
  sql: Sql,
  { account, budget, startsAt, endsAt }: Pick<Draw, "account" | "budget" | "startsAt" | "endsAt">,
): Promise<void> {
  await sql.run(
    `INSERT INTO accounts (account, budget, starts_at, ends_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (account) DO NOTHING`,
    [account, budget, startsAt, endsAt ?? null],
  );
}

async function readOne(sql: Sql, node: string, draw: Draw): Promise<AccountRow> {
  const [row] = await sql.all<StoredAccount>(`${SELECT} WHERE accounts.account = $2`, [node, draw.account]);
  if (row) return toRow(row);
  const { account, budget, startsAt, endsAt } = draw;
  return {
    account,
    budget,
    startsAt,
    endsAt,
    spent: 0,
    assumed: 0,
    overrun: 0,
    granted: 0,
    own: 0,
    alerted: 0,
  };
}

/** Books what calls were charged. What this node had drawn of the account becomes less by the same amount. */
export async function book(
  sql: Sql,
  node: string,
  { account, spent, assumed, overrun }: Spend,
): Promise<void> {
  await ensure(sql, account);
  await sql.run(
    "UPDATE accounts SET spent = spent + $2, assumed = assumed + $3, overrun = overrun + $4 WHERE account = $1",
    [account, spent, assumed, overrun],
  );
  await take(sql, node, account, spent + assumed);
}

export async function giveBack(sql: Sql, node: string, account: string, amount: Nano): Promise<void> {
  await take(sql, node, account, amount);
  // Calls of a budget that draws nothing, because it only watches, must not count as drawn.
  await sql.run("DELETE FROM grants WHERE account = $1 AND node = $2 AND amount = 0", [account, node]);
}

/** Books what a worker held when it died. @param assumption a negative amount: the worker was alive */
export async function assume(
  sql: Sql,
  node: string,
  { account, amount, why }: { account: string; amount: Nano; why: string },
  now: number,
): Promise<void> {
  await ensure(sql, account);
  await sql.run("UPDATE accounts SET assumed = assumed + $2 WHERE account = $1", [account, amount]);
  // What is no longer assumed is drawn again.
  if (amount < 0)
    await sql.run("INSERT INTO grants (account, node, amount) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING", [
      account,
      node,
    ]);
  await sql.run("INSERT INTO assumptions (at, account, amount, why) VALUES ($1, $2, $3, $4)", [
    now,
    account,
    amount,
    why,
  ]);
  await take(sql, node, account, amount);
}

/** See {@link BookStore.reclaim}. @returns the amount */
export function reclaim(
  sql: Sql,
  node: string,
  { account, amount: most, why }: { account: string; amount: Nano; why: string },
  now: number,
): Promise<Nano> {
  return sql.transaction(async (inner) => {
    // Locks the row: two nodes must not draw the same assumption.
    await inner.run("UPDATE accounts SET granted = granted WHERE account = $1", [account]);
    const [row] = await inner.all<{ amount: number | string }>(
      "SELECT coalesce(sum(amount), 0) AS amount FROM assumptions WHERE account = $1",
      [account],
    );
    const amount = Math.max(0, Math.min(most, Number(row!.amount)));
    if (amount > 0) await assume(inner, node, { account, amount: -amount, why }, now);
    return amount;
  });
}

/** Creates an account that was never drawn from: that of a budget that only watches, or of one that was deleted. */
async function ensure(sql: Sql, account: string): Promise<void> {
  const [known] = await sql.all("SELECT 1 AS known FROM accounts WHERE account = $1", [account]);
  if (known) return;
  const parts = readAccount(account);
  const { id, startsAt } = parts?.kind === "budget" ? parts : { id: account, startsAt: 0 };
  const [budget] = await readBudgets(sql, "id = $1", [id]);
  await createAccount(sql, {
    account,
    budget: id,
    startsAt,
    endsAt: budget && windowAt(budget, startsAt).endsAt,
  });
}

async function take(sql: Sql, node: string, account: string, amount: Nano): Promise<void> {
  const changed = await sql.run("UPDATE grants SET amount = amount - $3 WHERE account = $1 AND node = $2", [
    account,
    node,
    amount,
  ]);
  if (changed > 0)
    await sql.run("UPDATE accounts SET granted = granted - $2 WHERE account = $1", [account, amount]);
}

function toRow(row: StoredAccount): AccountRow {
  const { account, budget, starts_at: startsAt, spent, assumed, overrun, granted, alerted } = row;
  return {
    account,
    budget,
    startsAt,
    ...(row.ends_at !== null && { endsAt: row.ends_at }),
    spent,
    assumed,
    overrun,
    granted,
    own: row.own ?? 0,
    alerted,
  };
}
