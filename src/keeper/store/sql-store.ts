/** The store of the books in SQL: SQLite or PostgreSQL. */
import type { PriceRule } from "../../ledger/charge.ts";
import { isMarginKind } from "../../ledger/margins.ts";
import type { Budget, Declared, KeyEntry, RateLimit } from "../../ledger/policy.ts";
import { areKeysNeeded, hasHardBudget, openKeys } from "./access.ts";
import { writeAudit } from "./audit-log.ts";
import type { Nano } from "../../ledger/money.ts";
import { drawAll, readAccounts, reclaim } from "./accounts.ts";
import { MARGIN_MS, writeCommit } from "../record/commit.ts";
import { FeatureRows } from "../record/feature-rows.ts";
import type { NamedTables } from "../seams.ts";
import { Names } from "./names.ts";
import { Numbers } from "./numbers.ts";
import type { MarkFile } from "./mark.ts";
import { CLOSED, COMMITS, DOUBTED, HARD_CLOSED, POLICY_VERSION, readMeta } from "./meta.ts";
import * as policies from "./policies.ts";
import type { Sql } from "./sql.ts";
import { StoredPolicy } from "./stored-policy.ts";
import {
  type Actor,
  type BookStore,
  BudgetsClosed,
  type Commit,
  type Draw,
  type Expected,
  type StoreEvents,
} from "./store.ts";

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
  /** The facts about a file that are kept outside of it. */
  mark?: MarkFile;
  /** Tables of features. Default: none. */
  tables?: readonly NamedTables[];
}

/** Why the store is not released, by how much is known of it. */
const UNRELEASED = {
  budgets:
    "hard budgets are closed, because the books were damaged and recovered; check them and release them with weir store release",
  all: "keys of the store and hard budgets are closed, because the books were damaged or are an older copy, and some may be missing or old; check them and release them with weir store release",
} as const;

/** Shortest time between two notes of the number of commits. Milliseconds. */
const NOTE_MS = 1_000;

interface Opened {
  sql: Sql;
  names: Names;
  numbers: Numbers;
  policy: StoredPolicy;
  unreleased: keyof typeof UNRELEASED | undefined;
}

export class SqlStore implements BookStore {
  readonly isShared: boolean;
  readonly tables: readonly NamedTables[];
  readonly #rows: FeatureRows;
  readonly #options: SqlStoreOptions;
  readonly #now: () => number;
  /** The connection that is open, also after the store was opened again. For reports. */
  readonly current: Sql;
  #open: Opened | undefined;
  #isDamaged = false;
  #events: StoreEvents | undefined;
  #notedAt = -Infinity;

  constructor(options: SqlStoreOptions) {
    this.#options = options;
    this.isShared = options.isShared;
    this.tables = options.tables ?? [];
    this.#rows = new FeatureRows(this.tables);
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

  /** A file has no other nodes: it may be recovered while it is used. */
  watch(events: StoreEvents): void {
    this.#events = events;
  }

  async open(): Promise<void> {
    if (this.#open) return;
    try {
      await this.#connect();
    } catch (cause) {
      if (this.#isDamaged || !this.#options.isDamage?.(cause)) throw cause;
      this.#isDamaged = true;
      await this.#connect();
    }
  }

  async #connect(): Promise<void> {
    const sql = await this.#options.connect(this.#isDamaged);
    try {
      const [row] = await sql.all<{ last: number | null }>("SELECT max(number) AS last FROM calls");
      const numbers = new Numbers(row?.last ?? 0, this.#options.slot?.());
      const meta = await readMeta(sql);
      const unreleased =
        meta.get(DOUBTED) === 1 ? "all" : meta.get(HARD_CLOSED) === 1 ? "budgets" : undefined;
      if (this.#options.mark) {
        const closed = await areKeysNeeded(sql, meta);
        const hard = (await hasHardBudget(sql)) || unreleased === "all";
        const [commits, version] = [meta.get(COMMITS) ?? 0, meta.get(POLICY_VERSION) ?? 0];
        this.#options.mark.note({ closed, hard, commits, version }, true);
      }
      this.#isDamaged = false;
      this.#open = { sql, names: new Names(sql), numbers, policy: new StoredPolicy(), unreleased };
    } catch (cause) {
      await sql.close().catch(() => {});
      throw cause;
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    if (open) await this.#noteCommits(true);
    this.#open = undefined;
    await open?.sql.close();
  }

  policy() {
    return this.#read(async () => {
      const { sql, policy, unreleased } = this.#opened;
      const stored = await policy.read(sql);
      const closed = await areKeysNeeded(sql, await readMeta(sql));
      return { ...stored, closed, ...(unreleased && { unreleased }) };
    });
  }

  async declare(declared: Declared, prices: readonly PriceRule[]): Promise<void> {
    const { sql, names } = this.#opened;
    if (declared.budgets.some(isHard)) this.#options.mark?.note({ hard: true }, true);
    await this.#guard(() => policies.declare(sql, declared, this.#now()));
    await this.#guard(() => names.loadPrices(prices, [], this.#now()));
  }

  saveKey(key: KeyEntry, actor: Actor, expected?: Expected): Promise<number> {
    const closes = key.kind === "call" && key.revokedAt === undefined;
    return this.#change(closes ? { closed: true } : {}, (sql, now) =>
      policies.saveKey(sql, key, actor, expected, now),
    );
  }

  saveBudget(budget: Budget, actor: Actor, expected?: Expected): Promise<number> {
    return this.#change(isHard(budget) ? { hard: true } : {}, (sql, now) =>
      policies.saveBudget(sql, budget, actor, expected, now),
    );
  }

  deleteBudget(id: string, actor: Actor): Promise<boolean> {
    return this.#change({}, (sql, now) => policies.deleteEntry(sql, "budgets", id, actor, now));
  }

  saveRate(rate: RateLimit, actor: Actor, expected?: Expected): Promise<number> {
    return this.#change({}, (sql, now) => policies.saveRate(sql, rate, actor, expected, now));
  }

  deleteRate(id: string, actor: Actor): Promise<boolean> {
    return this.#change({}, (sql, now) => policies.deleteEntry(sql, "rates", id, actor, now));
  }

  change<Value>(work: (sql: Sql, now: number) => Promise<Value>): Promise<Value> {
    return this.#change({}, work);
  }

  /** Calls need no key any more, until one is saved. The caller has made sure that none is valid. */
  async openKeys(actor: Actor): Promise<void> {
    // First the mark: a file that is open beside a mark that is closed would be doubted.
    this.#options.mark?.note({ closed: false });
    await this.#change({}, (sql, now) => openKeys(sql, actor, now));
  }

  /** A change of keys, budgets or limits. @param mark what it adds to the mark, written before it becomes valid */
  async #change<Value>(
    mark: { closed?: true; hard?: true },
    work: (sql: Sql, now: number) => Promise<Value>,
  ): Promise<Value> {
    const { sql } = this.#opened;
    const before = this.#options.mark?.known;
    this.#options.mark?.note(mark, true);
    const value = await this.#guard(() => work(sql, this.#now())).catch((cause: unknown) => {
      tryTo(() => before && this.#options.mark?.note({ closed: before.closed, hard: before.hard }));
      throw cause;
    });
    const version = (await readMeta(sql)).get(POLICY_VERSION)!;
    // A mark that is behind is safe.
    tryTo(() => this.#options.mark?.note({ version }));
    return value;
  }

  accounts(now: number) {
    return this.#read(() => readAccounts(this.sql, this.#options.node, now));
  }

  /** @throws BudgetsClosed for hard budgets of a store that was recovered and not released */
  async draw(draws: readonly Draw[]) {
    const { sql, unreleased } = this.#opened;
    if (unreleased && draws.some(({ hard }) => hard)) throw new BudgetsClosed(UNRELEASED[unreleased]);
    return this.#guard(() => drawAll(sql, this.#options.node, draws));
  }

  reclaim(account: string, amount: Nano, why: string): Promise<Nano> {
    const { node } = this.#options;
    return this.#guard(() => reclaim(this.#opened.sql, node, { account, amount, why }, this.#now()));
  }

  /** Opens hard budgets and keys again that are closed since the store was recovered. */
  async release(actor: Actor): Promise<void> {
    const opened = this.#opened;
    if (!opened.unreleased) return;
    await opened.sql.transaction(async (sql) => {
      await sql.run("DELETE FROM meta WHERE name IN ($1, $2)", [HARD_CLOSED, DOUBTED]);
      await writeAudit(sql, this.#now(), actor, "release", "store", null, null);
    });
    opened.unreleased = undefined;
  }

  /** Opens a database that was found to be damaged again, which recovers it. */
  async recover(): Promise<void> {
    this.#isDamaged = true;
    await this.close().catch(() => {});
    await this.open();
    this.#events?.changed();
  }

  /** Why hard budgets, or also keys, are closed, in one sentence; undefined if they are not. */
  get closedBecause(): string | undefined {
    const unreleased = this.#open?.unreleased;
    return unreleased && UNRELEASED[unreleased];
  }

  async commit(commit: Commit): Promise<void> {
    const { node } = this.#options;
    const lost = await this.#guard(() =>
      writeCommit({ ...this.#opened, node, rows: this.#rows, now: this.#now() }, commit),
    );
    for (const rows of lost) this.#events?.lost(rows);
    await this.#noteCommits(false);
  }

  /** The mark follows the file, never the other way round. */
  async #noteCommits(isLast: boolean): Promise<void> {
    const { mark } = this.#options;
    const now = performance.now();
    if (!mark || !this.#open || (!isLast && now - this.#notedAt < NOTE_MS)) return;
    this.#notedAt = now;
    try {
      const commits = (await readMeta(this.#open.sql)).get(COMMITS) ?? 0;
      mark.note({ commits });
    } catch {
      // A mark that is behind is safe.
    }
  }

  positions(): Promise<ReadonlyMap<string, number>> {
    return this.#read(async () => {
      const rows = await this.sql.all<{ life: string; seq: number }>("SELECT life, seq FROM positions");
      return new Map(rows.map(({ life, seq }) => [life, seq]));
    });
  }

  rates() {
    return this.#read(() =>
      this.sql.all<{ account: string; level: number; at: number }>(
        "SELECT account, level, at FROM rate_levels",
      ),
    );
  }

  margins() {
    return this.#read(async () => {
      const rows = await this.sql.all<{ target: string; tokens: number; at: number }>(
        "SELECT target, tokens, at FROM margins WHERE at > $1",
        [this.#now() - MARGIN_MS],
      );
      return rows.flatMap(({ target: named, tokens, at }) => {
        const space = named.lastIndexOf(" ");
        const kind = named.slice(space + 1);
        return isMarginKind(kind) ? [{ target: named.slice(0, space), kind, factor: tokens / 100, at }] : [];
      });
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
      const then = this.closedBecause ?? "what failed can be repeated";
      throw new Error(`the file was damaged, and weir has set it aside; ${then}`, { cause });
    }
  }

  /** As {@link #guard}, for what changes nothing: it is repeated here. */
  async #read<Value>(work: () => Promise<Value>): Promise<Value> {
    const before = this.#open;
    try {
      return await work();
    } catch (cause) {
      if (!this.#options.isDamage?.(cause)) throw cause;
      if (this.#open === before) await this.recover();
      return work();
    }
  }

  get #opened(): Opened {
    if (!this.#open) throw new Error("the books are not open");
    return this.#open;
  }
}

function isHard({ mode }: Budget): boolean {
  return mode === "hard";
}

function tryTo(work: () => void): void {
  try {
    work();
  } catch {
    // Stays as it was.
  }
}
