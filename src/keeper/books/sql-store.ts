/** The store of the books in SQL: SQLite or PostgreSQL. */
import type { PriceRule } from "../../ledger/charge.ts";
import type { Budget, Declared, KeyEntry, RateLimit } from "../../ledger/policy.ts";
import { drawAll, readAccounts } from "./accounts.ts";
import { MARGIN_MS, writeCommit } from "./commit.ts";
import { Names } from "./names.ts";
import { Numbers } from "./numbers.ts";
import * as policies from "./policies.ts";
import type { Sql } from "./sql.ts";
import type { Actor, BookStore, Commit, Draw, Expected } from "./store.ts";

export interface SqlStoreOptions {
  /** Opens the database and brings it to the newest schema. @throws Error with one sentence */
  connect(): Promise<Sql>;
  isShared: boolean;
  /** Name of this node: what it has drawn is its own. */
  node: string;
  /** Number of this node among those of the store: 0 to 63. Default 0. */
  slot?: () => number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

export class SqlStore implements BookStore {
  readonly isShared: boolean;
  readonly #options: SqlStoreOptions;
  readonly #now: () => number;
  #open: { sql: Sql; names: Names; numbers: Numbers } | undefined;

  constructor(options: SqlStoreOptions) {
    this.#options = options;
    this.isShared = options.isShared;
    this.#now = options.now ?? Date.now;
  }

  /** The connection, for reports. @throws Error if the store is not open */
  get sql(): Sql {
    return this.#opened.sql;
  }

  async open(): Promise<void> {
    if (this.#open) return;
    const sql = await this.#options.connect();
    const [row] = await sql.all<{ last: number | null }>("SELECT max(number) AS last FROM calls");
    const numbers = new Numbers(row?.last ?? 0, this.#options.slot?.());
    this.#open = { sql, names: new Names(sql), numbers };
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.sql.close();
  }

  async policy() {
    const { sql } = this;
    const [version] = await sql.all<{ value: number }>(
      "SELECT value FROM meta WHERE name = 'policy_version'",
    );
    const keys = await policies.readKeys(sql);
    return {
      version: version!.value,
      keys,
      budgets: await policies.readBudgets(sql),
      rates: await policies.readRates(sql),
      closed: keys.some(({ kind }) => kind === "call"),
    };
  }

  async declare(declared: Declared, prices: readonly PriceRule[]): Promise<void> {
    const { sql, names } = this.#opened;
    await policies.declare(sql, declared, this.#now());
    await names.loadPrices(prices, [], this.#now());
  }

  saveKey(key: KeyEntry, actor: Actor, expected?: Expected): Promise<number> {
    return policies.saveKey(this.sql, key, actor, expected, this.#now());
  }

  saveBudget(budget: Budget, actor: Actor, expected?: Expected): Promise<number> {
    return policies.saveBudget(this.sql, budget, actor, expected, this.#now());
  }

  deleteBudget(id: string, actor: Actor): Promise<boolean> {
    return policies.deleteEntry(this.sql, "budgets", id, actor, this.#now());
  }

  saveRate(rate: RateLimit, actor: Actor, expected?: Expected): Promise<number> {
    return policies.saveRate(this.sql, rate, actor, expected, this.#now());
  }

  deleteRate(id: string, actor: Actor): Promise<boolean> {
    return policies.deleteEntry(this.sql, "rates", id, actor, this.#now());
  }

  accounts(now: number) {
    return readAccounts(this.sql, this.#options.node, now);
  }

  draw(draws: readonly Draw[]) {
    return drawAll(this.sql, this.#options.node, draws);
  }

  commit(commit: Commit): Promise<void> {
    return writeCommit({ ...this.#opened, node: this.#options.node, now: this.#now() }, commit);
  }

  async positions(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.sql.all<{ life: string; seq: number }>("SELECT life, seq FROM positions");
    return new Map(rows.map(({ life, seq }) => [life, seq]));
  }

  rates() {
    return this.sql.all<{ account: string; level: number; at: number }>(
      "SELECT account, level, at FROM rate_levels",
    );
  }

  margins() {
    return this.sql.all<{ target: string; tokens: number }>(
      "SELECT target, tokens FROM margins WHERE at > $1",
      [this.#now() - MARGIN_MS],
    );
  }

  get #opened() {
    if (!this.#open) throw new Error("the books are not open");
    return this.#open;
  }
}
