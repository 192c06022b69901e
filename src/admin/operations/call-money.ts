/** The charges of a call as lines that add up. */
import type { PriceRule } from "../../ledger/charge.ts";
import type { Policy } from "../../ledger/policy.ts";
import { linesOf } from "../../ledger/prices/lines.ts";
import { type AttemptRecord, readAccount } from "../../ledger/record.ts";
import { notFound } from "../../operator/errors.ts";
import { seesCall } from "../filter.ts";
import { answers } from "../operation.ts";
import { type AttemptMoney, getCallMoney } from "../../operator/money.ts";

export const callMoneyOperation = answers(getCallMoney, async (given) => {
  const { books, params } = given;
  const call = await books.call(params.id);
  if (!call || !seesCall(given, call)) throw notFound("call", params.id);
  const refs = call.attempts.flatMap(({ charge }) => charge.price ?? []);
  const rules = await books.rules([...new Set(refs)]);
  const policy = books.policy();
  return { json: { attempts: call.attempts.map((attempt) => moneyOf(attempt, rules, policy)) } };
});

function moneyOf(
  { usage, charge, accounts }: AttemptRecord,
  rules: ReadonlyMap<string, PriceRule>,
  { budgets }: Policy,
): AttemptMoney {
  const found = charge.price === undefined ? undefined : rules.get(charge.price);
  const names = new Map(budgets.map(({ id, name }) => [id, name]));
  return {
    lines: (found && linesOf(usage, charge, found)) ?? [],
    ...(found && { rule: ruleOf(found) }),
    budgets: accounts.flatMap((account) => {
      const parts = readAccount(account);
      return parts?.kind === "budget" ? [{ id: parts.id, name: names.get(parts.id) ?? parts.id }] : [];
    }),
  };
}

function ruleOf({ ref, provider, model, source, from }: PriceRule) {
  return { ref, provider, model, source, ...(from !== undefined && { from }) };
}
