/** The keys, budgets, rate limits and models of a store, read again only where they have changed: a store may have ten thousand keys. */
import type { Budget, KeyEntry, Policy, RateLimit, StoredModel } from "../../ledger/policy.ts";
import { readBudgets, readKeys, readRates } from "./policies.ts";
import type { Sql } from "./sql.ts";
import { readModels } from "./stored-models.ts";

export class StoredPolicy {
  #version = -1;
  readonly #keys = new Map<string, KeyEntry>();
  readonly #budgets = new Map<string, Budget>();
  readonly #rates = new Map<string, RateLimit>();
  readonly #models = new Map<string, StoredModel>();

  /** One connection reads it: versions never fall. `closed`: a call key is stored, also a revoked one. Entries that have not changed are the same objects as before. */
  async read(sql: Sql): Promise<Policy> {
    const [row] = await sql.all<{ value: number }>("SELECT value FROM meta WHERE name = 'policy_version'");
    if (!row) throw new Error("the table meta has lost the version of keys and budgets: it was emptied");
    const version = row.value;
    // What is committed in between has a later version, and is read again the next time.
    const since = this.#version;
    if (since !== version) await this.#readSince(sql, since);
    this.#version = version;
    const keys = sorted(this.#keys);
    return {
      version,
      keys,
      budgets: sorted(this.#budgets),
      rates: sorted(this.#rates),
      models: sorted(this.#models),
      closed: keys.some(({ kind }) => kind === "call"),
    };
  }

  async #readSince(sql: Sql, since: number): Promise<void> {
    const which = "declared = 0 AND version > $1";
    const lasting = `${which} AND deleted_at IS NULL`;
    for (const key of await readKeys(sql, which, [since])) this.#keys.set(key.id, key);
    await this.#take(sql, "budgets", this.#budgets, await readBudgets(sql, lasting, [since]), since);
    await this.#take(sql, "rates", this.#rates, await readRates(sql, lasting, [since]), since);
    const { changed, removed } = await readModels(sql, since);
    for (const model of changed) this.#models.set(model.id, model);
    for (const id of removed) this.#models.delete(id);
  }

  async #take<Entry extends { id: string }>(
    sql: Sql,
    table: "budgets" | "rates",
    entries: Map<string, Entry>,
    changed: readonly Entry[],
    since: number,
  ): Promise<void> {
    for (const entry of changed) entries.set(entry.id, entry);
    const deleted = await sql.all<{ id: string }>(
      `SELECT id FROM ${table} WHERE declared = 0 AND deleted_at IS NOT NULL AND version > $1`,
      [since],
    );
    for (const { id } of deleted) entries.delete(id);
  }
}

function sorted<Entry extends { id: string }>(entries: ReadonlyMap<string, Entry>): Entry[] {
  return [...entries.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}
