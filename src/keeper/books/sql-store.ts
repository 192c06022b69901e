/** The store of the books in SQL: SQLite or PostgreSQL. */
import type { PriceRule } from "../../ledger/charge.ts";
import { isMarginKind } from "../../ledger/margins.ts";
import type { Budget, Declared, KeyEntry, RateLimit } from "../../ledger/policy.ts";
import { drawAll, readAccounts } from "./accounts.ts";
import { MARGIN_MS, writeCommit } from "./commit.ts";
import { Names } from "./names.ts";
import { Numbers } from "./numbers.ts";
import * as policies from "./policies.ts";
import { HARD_CLOSED } from "./meta.ts";
import type { Sql } from "./sql.ts";
import { StoredPolicy } from "./stored-policy.ts";
import { type Actor, type BookStore, BudgetsClosed, type Commit, type Draw, type Expected } from "./store.ts";

export interface SqlStoreOptions {
  /**
   * Opens the database and brings it to the newest schema.
   * @param damaged a statement has found that the database is damaged @throws Error with one sentence
   */
  connect(damaged: boolean): Promise<Sql>;
  isShared: boolean;
  /** Name of this node: what it has drawn is its own. */
  node: string;
  /** Number of this node among those of the store: 0 to 63. Default 0. */
  slot?: () => number;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** Whether a failure says that the database is damaged: it is opened again, which recovers it. */
  isDamage?(this: void, cause: unknown): boolean;
}

const CLOSED =
  "hard budgets are closed, because the books were damaged and recovered; check them and release them with weir store release";

interface Opened {
  sql: Sql;
  names: Names;
  numbers: Numbers;
  policy: StoredPolicy;
  hardClosed: boolean;
}

export class SqlStore implements BookStore {
  readonly isShared: boolean;
  readonly #options: SqlStoreOptions;
  readonly #now: () => number;
  /** The connection that is open, also after the store was opened again. For reports. */
  readonly current: Sql;
  #open: Opened | undefined;
  #isDamaged = false;

  constructor(options: SqlStoreOptions) {
    this.#options = options;
    this.isShared = options.isShared;
    this.#now = options.now ?? Date.now;
    this.current = {
      dialect: options.isShared ? "postgres" : "sqlite",
      all: (text, values) => this.#guard(() => this.sql.all(text, values)),
      run: (text, values) => this.#guard(() => this.sql.run(text, values)),
      insert: (...rows) => this.#guard(() => this.sql.insert(...rows)),
      transaction: (work) => this.#guard(() => this.sql.transaction(work)),
      close: async () => {},
    };
  }

  /** The connection. @throws Error if the store is not open */
  get sql(): Sql {
    return this.#opened.sql;
  }

  async open(): Promise<void> {
    if (this.#open) return;
    const sql = await this.#options.connect(this.#isDamaged);
    this.#isDamaged = false;
    const [row] = await sql.all<{ last: number | null }>("SELECT max(number) AS last FROM calls");
    const numbers = new Numbers(row?.last ?? 0, this.#options.slot?.());
    const [closed] = await sql.all<{ value: number }>("SELECT value FROM meta WHERE name = $1", [
      HARD_CLOSED,
    ]);
    this.#open = {
      ...{ sql, names: new Names(sql), numbers, policy: new StoredPolicy() },
      hardClosed: closed?.value === 1,
    };
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.sql.close();
  }

  policy() {
    const { sql, policy } = this.#opened;
    return policy.read(sql);
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

  /** @throws BudgetsClosed for hard budgets of a store that was recovered and not released */
  async draw(draws: readonly Draw[]) {
    const { sql, hardClosed } = this.#opened;
    if (hardClosed && draws.some(({ hard }) => hard)) throw new BudgetsClosed(CLOSED);
    return this.#guard(() => drawAll(sql, this.#options.node, draws));
  }

  /** Opens hard budgets again that are closed since the store was recovered. */
  async release(actor: Actor): Promise<void> {
    const opened = this.#opened;
    if (!opened.hardClosed) return;
    await opened.sql.transaction(async (sql) => {
      await sql.run("DELETE FROM meta WHERE name = $1", [HARD_CLOSED]);
      await policies.writeAudit(sql, this.#now(), actor, "release", "store", null, null);
    });
    opened.hardClosed = false;
  }

  /** Opens a database that was found to be damaged again, which recovers it. */
  async recover(): Promise<void> {
    this.#isDamaged = true;
    await this.close().catch(() => {});
    await this.open();
  }

  /** Why hard budgets are closed, in one sentence; undefined if they are not. */
  get closedBecause(): string | undefined {
    return this.#open?.hardClosed ? CLOSED : undefined;
  }

  commit(commit: Commit): Promise<void> {
    return this.#guard(() =>
      writeCommit({ ...this.#opened, node: this.#options.node, now: this.#now() }, commit),
    );
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

  async margins() {
    const rows = await this.sql.all<{ target: string; tokens: number; at: number }>(
      "SELECT target, tokens, at FROM margins WHERE at > $1",
      [this.#now() - MARGIN_MS],
    );
    return rows.flatMap(({ target: named, tokens, at }) => {
      const space = named.lastIndexOf(" ");
      const kind = named.slice(space + 1);
      return isMarginKind(kind) ? [{ target: named.slice(0, space), kind, factor: tokens / 100, at }] : [];
    });
  }

  /** After damage the store is opened again; what failed is repeated by who asked for it. */
  async #guard<Value>(work: () => Promise<Value>): Promise<Value> {
    const before = this.#open;
    try {
      return await work();
    } catch (cause) {
      if (!this.#options.isDamage?.(cause)) throw cause;
      if (this.#open === before) await this.recover();
      throw new Error(`the file was damaged, and weir has set it aside; ${CLOSED}`, { cause });
    }
  }

  get #opened(): Opened {
    if (!this.#open) throw new Error("the books are not open");
    return this.#open;
  }
}
