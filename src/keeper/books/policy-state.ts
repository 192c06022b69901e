/** The policy that workers get: what the config declares and what the store has. */
import type { BooksDown } from "../../ledger/messages.ts";
import type { Budget, Declared, KeyEntry, Policy, RateLimit, StoredModel } from "../../ledger/policy.ts";

const NOTHING: Declared = { keys: [], budgets: [], rates: [] };

type Changes = Extract<BooksDown, { kind: "changes" }>;

export class PolicyState {
  #declared: Declared = NOTHING;
  #stored: Omit<Policy, "version"> = { ...NOTHING, closed: false };
  #policy: Policy = { version: 0, ...NOTHING, closed: false };
  #budgets: ReadonlyMap<string, Budget> = new Map();
  #rates: ReadonlyMap<string, RateLimit> = new Map();

  get policy(): Policy {
    return this.#policy;
  }

  get declared(): Declared {
    return this.#declared;
  }

  budget(id: string): Budget | undefined {
    return this.#budgets.get(id);
  }

  rate(id: string): RateLimit | undefined {
    return this.#rates.get(id);
  }

  /** @returns what has changed */
  declare(declared: Declared): Changes | undefined {
    this.#declared = declared;
    const changes = this.#merge();
    // No worker needs them, so that they are no change.
    this.#policy = { ...this.#policy, keyBudgets: declared.keyBudgets, modelSets: declared.modelSets };
    return changes;
  }

  /** @returns what has changed */
  load(stored: Omit<Policy, "version">): Changes | undefined {
    this.#stored = stored;
    return this.#merge();
  }

  #merge(): Changes | undefined {
    const before = this.#policy;
    const [declared, stored] = [this.#declared, this.#stored];
    const keys = [...declared.keys, ...stored.keys];
    const policy: Policy = {
      version: before.version + 1,
      keys,
      budgets: [...declared.budgets, ...stored.budgets],
      rates: [...declared.rates, ...stored.rates],
      ...(stored.models && { models: stored.models }),
      keyBudgets: declared.keyBudgets,
      modelSets: declared.modelSets,
      closed: stored.closed || declared.keys.some(isForCalls) || stored.keys.some(isValid),
      ...(stored.unreleased && { unreleased: stored.unreleased }),
    };
    const changes = changesOf(before, policy);
    if (!changes) return undefined;
    this.#policy = policy;
    this.#budgets = new Map(policy.budgets.map((budget) => [budget.id, budget]));
    this.#rates = new Map(policy.rates.map((rate) => [rate.id, rate]));
    return changes;
  }
}

function isForCalls({ kind }: KeyEntry): boolean {
  return kind === "call";
}

/** A key may be stored while another one who has seen none opens the gateway: it stays closed. */
function isValid(key: KeyEntry): boolean {
  const { revokedAt, expiresAt = Infinity } = key;
  return isForCalls(key) && revokedAt === undefined && Date.now() < expiresAt;
}

function changesOf(before: Policy, after: Policy): Changes | undefined {
  const keys = difference<KeyEntry>(before.keys, after.keys);
  const budgets = difference<Budget>(before.budgets, after.budgets);
  const rates = difference<RateLimit>(before.rates, after.rates);
  const models = difference<StoredModel>(before.models ?? [], after.models ?? []);
  const lists = [keys, budgets, rates, models];
  const removed = lists.flatMap((list) => list.removed);
  const count = lists.reduce((sum, { changed }) => sum + changed.length, removed.length);
  const isSame = before.closed === after.closed && before.unreleased === after.unreleased;
  if (count === 0 && isSame && before.version > 0) return undefined;
  return {
    kind: "changes",
    version: after.version,
    closed: after.closed,
    ...(after.unreleased && { unreleased: after.unreleased }),
    upserts: {
      ...(keys.changed.length > 0 && { keys: keys.changed }),
      ...(budgets.changed.length > 0 && { budgets: budgets.changed }),
      ...(rates.changed.length > 0 && { rates: rates.changed }),
      ...(models.changed.length > 0 && { models: models.changed }),
    },
    removed,
  };
}

function difference<Entry extends { id: string }>(before: readonly Entry[], after: readonly Entry[]) {
  const known = new Map(before.map((entry) => [entry.id, entry]));
  const changed: Entry[] = [];
  for (const entry of after) {
    const earlier = known.get(entry.id);
    known.delete(entry.id);
    // Entries that have not changed are mostly the same objects, of which there may be ten thousand.
    if (earlier !== entry && JSON.stringify(earlier) !== JSON.stringify(entry)) changed.push(entry);
  }
  return { changed, removed: [...known.keys()] };
}
