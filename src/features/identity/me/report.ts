/** What a person sees of itself: keys, use, what is left of each budget that counts it, models, sessions, last calls, own changes. */
import type { AdminBooks } from "../../../admin/books.ts";
import type { Caller } from "../../../admin/callers.ts";
import { limitsOf } from "../../../admin/key-limits.ts";
import { compilePermissions } from "../../../ledger/keys/principal.ts";
import type { KeyEntry, Subject } from "../../../ledger/policy.ts";
import type { KeyPolicy } from "./section.ts";
import type { Owner } from "./own-keys.ts";

/** Newest calls and changes that are shown. */
const LAST = 10;
const MOST_MODELS = 200;
/** Entries of the audit log that are looked at. */
const MOST_SEARCHED = 100_000;

export interface OwnKey {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly hint?: string;
  readonly expiresAt?: number;
  /** Of the month, as `weir usage --key` counts them. Nano-dollars. */
  readonly calls: number;
  readonly cost: number;
}

interface Counted {
  readonly name: string;
  /** Why it counts the person: `all calls at /eng and below`. */
  readonly why: string;
}

/** Amounts are nano-dollars. */
export interface OwnBudget extends Counted {
  readonly limit: number;
  readonly left: number;
  readonly window: string;
  readonly resetsAt?: number;
}

/** By unit. */
export interface OwnRate extends Counted {
  readonly limit: Readonly<Record<string, number>>;
  readonly left: Readonly<Record<string, number>>;
}

export interface OwnReport {
  /** Beginning of the month in UTC. */
  readonly from: number;
  /** Calls of the person in the month, by key or token, as far as their rows are kept. */
  readonly calls: number;
  readonly cost: number;
  readonly keys: readonly OwnKey[];
  readonly policy?: KeyPolicy;
  readonly budgets: readonly OwnBudget[];
  readonly rates: readonly OwnRate[];
  readonly models: readonly string[];
  readonly lastCalls: readonly { at: number; model: string; status: number; cost: number; key?: string }[];
  readonly changes: readonly { at: number; action: string; subject: string }[];
}

export async function reportOf(
  books: AdminBooks,
  owner: Owner,
  { keys, policy, now }: { keys: readonly KeyEntry[]; policy: KeyPolicy | undefined; now: number },
): Promise<OwnReport> {
  const today = new Date(now);
  const from = Date.UTC(today.getUTCFullYear(), today.getUTCMonth());
  const { person } = owner;
  const columns = { person };
  const [own, summary, newest, limits, models, changes] = await Promise.all([
    Promise.all(keys.map((key) => keyOf(books, key, from))),
    books.summary({ columns, from, slices: 1 }),
    books.calls({ columns, limit: LAST }),
    limitsFor(books, owner, keys, now),
    modelsOf(books, owner),
    changesOf(books, person),
  ]);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return {
    ...{ from, calls: summary.calls, cost: summary.cost, keys: own, models, changes, ...limits },
    ...(policy && { policy }),
    lastCalls: newest.calls.map(({ startedAt, model, status, attempts, key }) => ({
      ...{ at: startedAt, model, status },
      cost: attempts.reduce((sum, { charge }) => sum + charge.cost, 0),
      ...(key !== undefined && names.has(key) && { key: names.get(key)! }),
    })),
  };
}

async function keyOf(books: AdminBooks, key: KeyEntry, from: number): Promise<OwnKey> {
  const { id, name, path, digests, expiresAt } = key;
  const { total } = await books.usage({ key: id, from, by: [] });
  const { hint } = digests.find(({ until }) => until === undefined) ?? {};
  return {
    ...{ id, name, path, calls: total.calls, cost: total.cost },
    ...(hint !== undefined && { hint }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** Budgets and limits above the person count it too, so it may know what is left of them. */
async function limitsFor(
  books: AdminBooks,
  { person, path, address }: Owner,
  keys: readonly KeyEntry[],
  now: number,
) {
  const caller: Caller = { actor: person, address, role: "read", path: "/", scopes: {} };
  // Calls with a token have no key, but a path.
  const byToken: KeyEntry = { id: person, name: "", kind: "call", path, tags: [], digests: [], scopes: {} };
  const found = await limitsOf({ books, caller, now }, [byToken, ...keys]);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const all = [...found.values()];
  const budgets = new Map(all.flatMap((one) => one.budgets.map((budget) => [budget.id, budget] as const)));
  const rates = new Map(all.flatMap((one) => one.rates.map((rate) => [rate.id, rate] as const)));
  return {
    budgets: [...budgets.values()].map(({ name, on, window, limit, left, resetsAt }) => ({
      ...{ name, why: whyOf(on, names), limit, left },
      window: typeof window === "string" ? window : `${window.hours} h`,
      ...(resetsAt !== undefined && { resetsAt }),
    })),
    rates: [...rates.values()].map(({ name, on, limits, left }) => ({
      ...{ name, why: whyOf(on, names), limit: limits, left },
    })),
  };
}

function whyOf({ kind, what }: Subject, keys: ReadonlyMap<string, string>): string {
  if (kind === "path") return `all calls at ${what} and below`;
  if (kind === "key") return `calls of the key ${keys.get(what) ?? what}`;
  return kind === "all" ? "all calls of the gateway" : `${kind} ${what}`;
}

/** Those that the issuer's entry permits. */
async function modelsOf(books: AdminBooks, { scopes }: Owner): Promise<string[]> {
  const found = await books.gateway.ask({ what: "models" }).catch(() => undefined);
  const permitted = compilePermissions(scopes, () => books.policy().modelSets ?? {});
  const seen = (found?.models ?? []).filter(({ id, provider }) =>
    permitted.allowsModel([id, `${provider}/${id}`]),
  );
  return seen.slice(0, MOST_MODELS).map(({ id }) => id);
}

function changesOf(books: AdminBooks, person: string) {
  return books.read(async (sql) => {
    const rows = await sql.all<{ at: number | string; action: string; subject: string }>(
      `SELECT at, action, subject FROM audit WHERE id > (SELECT max(id) FROM audit) - ${MOST_SEARCHED} AND (actor = $1 OR subject = $2)
       ORDER BY id DESC LIMIT $3`,
      [person, `people/${person}`, LAST],
    );
    return rows.map(({ at, action, subject }) => ({ at: Number(at), action, subject }));
  });
}
