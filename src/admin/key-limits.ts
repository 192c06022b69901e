/** Limits of a key: the budgets and rate limits that count all its calls, and what it has spent. */
import type { Budget, KeyEntry, RateLimit, Subject } from "../ledger/policy.ts";
import { rateAccount } from "../ledger/record.ts";
import { windowAt } from "../ledger/windows.ts";
import { isOnKey } from "../ledger/worker/line.ts";
import { seesSubject } from "./entries.ts";
import type { AdminRequest } from "./operation.ts";

type Given = Pick<AdminRequest, "books" | "caller" | "now">;

const DAY_MS = 86_400_000;
/** The time over which `spent` is added up. */
const SPENT_DAYS = 30;

/** Of each key: what the member `limits` of its answer holds. */
export async function limitsOf({ books, caller, now }: Given, keys: readonly KeyEntry[]) {
  const policy = books.policy();
  const sees = ({ on }: { on: Subject }) => seesSubject(caller, on, policy);
  const [budgets, rates] = [policy.budgets.filter(sees), policy.rates.filter(sees)];
  const since = now - SPENT_DAYS * DAY_MS;
  const usage = await books.usage({ by: ["key"], within: caller.path, from: since });
  const spent = new Map(usage.rows.map(({ group, cost }) => [group.key ?? "", cost]));
  const accounts = await books.accounts();
  const figures = await books.rates();
  const ofBudget = (budget: Budget) => {
    const { startsAt, endsAt } = windowAt(budget, now);
    const { id, name, on, window, limit, mode } = budget;
    const open = accounts.find((account) => account.budget === id && account.startsAt === startsAt);
    const used = open ? open.spent + open.assumed : 0;
    return {
      ...{ id, name, on, window, limit, mode, spent: used },
      left: Math.max(0, limit - used - (open?.held ?? 0)),
      ...(endsAt !== undefined && { resetsAt: endsAt }),
    };
  };
  const ofRate = ({ id, name, on, limits }: RateLimit) => {
    const left = Object.keys(limits).flatMap((unit) => {
      const account = rateAccount(id, unit as keyof RateLimit["limits"]);
      const found = figures.find((figure) => figure.account === account);
      return found ? [[unit, Math.floor(found.left)] as const] : [];
    });
    return { id, name, on, limits, left: Object.fromEntries(left) };
  };
  return new Map(
    keys.map((key) => {
      const counts = ({ on }: { on: Subject }) => isOnKey(on, { key, path: key.path, tags: key.tags });
      // What has a purse for each session has no figure of the key.
      const own = budgets.filter((budget) => budget.on.kind !== "session" && counts(budget));
      return [
        key.id,
        {
          ...{ spent: spent.get(key.id) ?? 0, since: usage.from ?? since },
          ...{ budgets: own.map(ofBudget), rates: rates.filter(counts).map(ofRate) },
        },
      ] as const;
    }),
  );
}
