/**
 * The store of the books as one of several nodes uses it: with a name, with notices between the nodes, and with a spool for
 * the time in which the server is away.
 */
import type { PriceRule } from "../../../ledger/charge.ts";
import type { Budget, Declared, KeyEntry, RateLimit } from "../../../ledger/policy.ts";
import type { Sql } from "../sql.ts";
import { SqlStore } from "../sql-store.ts";
import {
  type Actor,
  type BookStore,
  type Commit,
  type Draw,
  type Drawn,
  type Expected,
  type RateDemand,
  type RatePart,
  type StoreEvents,
  StoreLost,
} from "../store.ts";
import { Draws, markUnclear } from "./draws.ts";
import type { Postgres } from "./driver.ts";
import { sentenceOf } from "./faults.ts";
import { HadKeys } from "./had-keys.ts";
import { Nodes } from "./nodes.ts";
import { Notices } from "./notices.ts";
import { RateParts, takeParts } from "./rate-parts.ts";
import { Spool, type Spooled } from "./spool.ts";
import { addPartitions, type OpenOptions, openPostgres } from "./store.ts";

const BEAT_MS = 5_000;
const POLL_MS = 2_000;
/** Between two attempts to reach a server that is away. Milliseconds. */
const RETURN_MS = 250;
const DAY_MS = 86_400_000;
/** Attempts to write a commit that the server refuses, before it is set aside. */
const TRIES = 3;

export interface ClusterOptions extends OpenOptions {
  /** File of the spool, or `:memory:`. */
  spool: string;
  /** A node that is silent for this time loses its grants. Milliseconds. */
  leaseMs: number;
  /** How long keys are used that were read before the server went away. Milliseconds; default: a day. */
  keysMs?: number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

type StoredPolicy = Awaited<ReturnType<BookStore["policy"]>>;

export class ClusterStore implements BookStore {
  readonly isShared = true;
  readonly tables: NonNullable<OpenOptions["tables"]>;
  readonly #url: string;
  readonly #options: ClusterOptions;
  /** Names this run of the keeper. */
  readonly #life = crypto.randomUUID();
  readonly #spool: Spool;
  readonly #nodes: Nodes;
  readonly #draws: Draws;
  readonly #notices: Notices;
  readonly #store: SqlStore;
  #events: StoreEvents | undefined;
  #sql: Postgres | undefined;
  #slot = 0;
  #isOpen = false;
  #closed = false;
  /** Why the server is away; `undefined` while it is not. */
  #fault: string | undefined;
  #seq = 0;
  /** The last commit that was asked for: commits are written in order. */
  #tail: Promise<unknown> = Promise.resolve();
  /** The policy that was read last. */
  #policy: StoredPolicy | undefined;
  /** The server has been away for so long that keys may have been revoked meanwhile. */
  #areKeysOld = false;
  #oldKeys: ReturnType<typeof setTimeout> | undefined;
  #declared: [Declared, readonly PriceRule[]] | undefined;
  readonly #rates = new RateParts();
  readonly #hadKeys: HadKeys;
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #return: ReturnType<typeof setTimeout> | undefined;

  /** @param url `postgres://user:password@host:port/database` @throws Error with one sentence if the spool cannot be opened */
  constructor(url: string, options: ClusterOptions) {
    this.#url = url;
    this.#options = options;
    this.tables = options.tables ?? [];
    this.#spool = new Spool(options.spool);
    this.#hadKeys = new HadKeys(options.spool);
    this.#nodes = new Nodes(this.node, this.#life, options.leaseMs);
    this.#draws = new Draws(this.node, this.#life);
    this.#notices = new Notices(this.node, {
      changed: () => this.#events?.changed(),
      recall: async (account) => (await this.#events?.recall(account)) ?? 0,
      settle: async (budget) => this.#events?.settle(budget),
    });
    this.#store = new SqlStore({
      connect: () => this.#connect(),
      ...{ isShared: true, node: this.node, now: options.now, tables: this.tables },
      slot: () => this.#slot,
    });
  }

  get node(): string {
    return this.#spool.node;
  }

  /** The connection, for reports. @throws StoreLost while the server is away */
  get sql(): Sql {
    if (!this.#sql || this.#fault !== undefined) throw new StoreLost(this.#fault ?? "the books are not open");
    return this.#sql;
  }

  get closedBecause(): string | undefined {
    return this.#hadKeys.why;
  }

  /** Commits that wait for the server, and calls whose records found no room. */
  get spooled(): { commits: number; dropped: number } {
    return { commits: this.#spool.waiting, dropped: this.#spool.dropped };
  }

  watch(events: StoreEvents): void {
    this.#events = events;
    this.#store.watch(events);
  }

  /** Connects, and writes what an earlier run has spooled. @throws Error with one sentence; it can be called again */
  async open(): Promise<void> {
    await this.#connectAndReplay();
    if (this.#timers.length > 0) return;
    this.#every(BEAT_MS, async (sql) => {
      await this.#nodes.beat(sql);
      await this.#draws.forget(sql);
      const now = (this.#options.now ?? Date.now)();
      await addPartitions(sql, now, now + DAY_MS);
    });
    this.#every(POLL_MS, (sql) => this.#poll(sql));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#tail;
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#return);
    clearTimeout(this.#oldKeys);
    this.#notices.stop();
    if (this.#sql && this.#fault === undefined) await this.#nodes.goodbye(this.#sql).catch(() => {});
    await this.#store.close();
    this.#spool.close();
  }

  /** While the server is away: as it was before, without keys after a day. */
  async policy(): Promise<StoredPolicy> {
    try {
      const policy = this.#hadKeys.keep(await this.#try(() => this.#store.policy()));
      this.#policy = policy;
      return policy;
    } catch (cause) {
      if (!(cause instanceof StoreLost) || !this.#policy) throw cause;
      return this.#areKeysOld ? { ...this.#policy, keys: [], closed: true } : this.#policy;
    }
  }

  /** Declarations made while the server is away are written when it is back. */
  async declare(declared: Declared, prices: readonly PriceRule[]): Promise<void> {
    this.#declared = [declared, prices];
    if (this.#fault === undefined) await this.#try(() => this.#store.declare(declared, prices));
  }

  saveKey(key: KeyEntry, actor: Actor, expected?: Expected): Promise<number> {
    this.#hadKeys.note(key);
    return this.#change(() => this.#store.saveKey(key, actor, expected));
  }

  saveBudget(budget: Budget, actor: Actor, expected?: Expected): Promise<number> {
    return this.#change(() => this.#store.saveBudget(budget, actor, expected));
  }

  deleteBudget(id: string, actor: Actor): Promise<boolean> {
    return this.#change(() => this.#store.deleteBudget(id, actor));
  }

  settled = (budget: string) => this.#try(() => this.#notices.settle(this.#sql!, budget));

  saveRate(rate: RateLimit, actor: Actor, expected?: Expected): Promise<number> {
    return this.#change(() => this.#store.saveRate(rate, actor, expected));
  }

  deleteRate = (id: string, actor: Actor) => this.#change(() => this.#store.deleteRate(id, actor));
  change: BookStore["change"] = (work) => this.#change(() => this.#store.change(work));
  accounts = (now: number) => this.#try(() => this.#store.accounts(now));
  reclaim: BookStore["reclaim"] = (...of) => this.#try(() => this.#store.reclaim(...of));

  /** An amount that the store refuses at last is asked of the other nodes, because they may have drawn more than their calls hold. */
  async draw(draws: readonly Draw[], isLast = true): Promise<readonly Drawn[]> {
    const first = await this.#draw(draws);
    if (!isLast) return first;
    if (first.every(({ amount }) => amount > 0)) return first;
    const short = first.filter(({ row, amount }, index) => {
      const { limit, need } = draws[index]!;
      return amount === 0 && limit - row.spent - row.assumed - row.granted < need;
    });
    const recalled = short.filter(({ row }) => row.granted > row.own);
    if (recalled.length < short.length) return first;
    const unclear = await this.#try(() =>
      this.#notices.recallAll(
        this.#sql!,
        recalled.map(({ row }) => row.account),
      ),
    );
    // Money that came back for another draw may be free too, so this is also done where the recall has returned none.
    const second = await this.#draw(draws);
    return second.map((drawn, index) => markUnclear(drawn, draws[index]!, unclear));
  }

  /** Resolves when the commit is in the store, or in the spool. */
  commit(commit: Commit): Promise<void> {
    const numbered = { ...commit, rates: [], once: commit.once ?? { life: this.#life, seq: ++this.#seq } };
    const written = this.#tail.then(() => this.#commit(numbered));
    this.#tail = written.catch(() => {});
    return written;
  }

  positions = () => this.#try(() => this.#store.positions());

  /** A level is of one node's part, and parts change: a node begins with what no node has used. */
  async rates(): Promise<[]> {
    return [];
  }

  margins = () => this.#try(() => this.#store.margins());

  shareRates(demands: readonly RateDemand[]): Promise<ReadonlyMap<string, RatePart>> {
    return this.#rates.share(demands, () => this.#try(() => takeParts(this.#sql!, this.node, demands)));
  }

  #draw(draws: readonly Draw[]): Promise<readonly Drawn[]> {
    return this.#try(() => this.#draws.draw(this.#sql!, draws));
  }

  async #change<Value>(change: () => Promise<Value>): Promise<Value> {
    const value = await this.#try(change);
    await this.#notices.tellPolicy(this.#sql!).catch(() => {});
    return value;
  }

  async #commit(commit: Commit): Promise<void> {
    if (this.#fault === undefined) {
      try {
        return await this.#try(() => this.#store.commit(commit));
      } catch (cause) {
        if (!(cause instanceof StoreLost)) throw cause;
      }
    }
    this.#spool.add(commit);
  }

  async #connect(): Promise<Postgres> {
    const sql = await openPostgres(this.#url, this.#options.now, this.#options);
    this.#slot = await this.#nodes.hello(sql);
    this.#sql = sql;
    return sql;
  }

  /** Brings the store to what this node knows: grants that were booked as assumed, draws of unknown outcome, the spool. */
  async #connectAndReplay(): Promise<void> {
    if (this.#isOpen) await this.#nodes.beat(this.#sql!);
    else await this.#store.open();
    this.#isOpen = true;
    await this.#draws.undo(this.#sql!);
    if (this.#declared) await this.#store.declare(...this.#declared);
    await this.#notices.listen(this.#sql!);
    for (let next = this.#spool.first(); next; next = this.#spool.first()) await this.#replay(next);
    this.#fault = undefined;
    this.#areKeysOld = false;
    clearTimeout(this.#oldKeys);
  }

  async #replay({ number, commit, fault }: Spooled): Promise<void> {
    if (fault !== undefined) return this.#setAside(number, fault);
    for (let tries = 1; ; tries++) {
      try {
        await this.#store.commit(commit);
        return this.#spool.remove(number);
      } catch (cause) {
        if (cause instanceof StoreLost) throw cause;
        if (tries < TRIES) continue;
        return this.#setAside(number, sentenceOf(cause));
      }
    }
  }

  #setAside(number: number, why: string): void {
    this.#spool.refuse(number, why);
    this.#events?.state(`a spooled commit was set aside: ${why}`);
  }

  /** @throws StoreLost while the server is away */
  async #try<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#fault !== undefined) throw new StoreLost(this.#fault);
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof StoreLost) this.#lose(cause);
      throw cause;
    }
  }

  #lose({ message }: StoreLost): void {
    if (this.#fault !== undefined || this.#closed) return;
    this.#fault = message;
    this.#oldKeys = setTimeout(() => {
      this.#areKeysOld = true;
      this.#events?.changed();
    }, this.#options.keysMs ?? DAY_MS);
    this.#oldKeys.unref();
    this.#notices.stop();
    this.#events?.state(message);
    this.#returnLater();
  }

  #returnLater(): void {
    if (this.#closed) return;
    this.#return = setTimeout(() => {
      this.#connectAndReplay().then(
        () => {
          this.#events?.state(undefined);
        },
        (cause: unknown) => {
          if (!(cause instanceof StoreLost)) this.#events?.state(sentenceOf(cause));
          this.#returnLater();
        },
      );
    }, RETURN_MS);
    this.#return.unref();
  }

  async #poll(sql: Postgres): Promise<void> {
    if (!this.#notices.isListening) await this.#notices.listen(sql);
    const [row] = await sql.all<{ value: number }>("SELECT value FROM meta WHERE name = 'policy_version'");
    if (this.#policy && row!.value !== this.#policy.version) this.#events?.changed();
  }

  #every(ms: number, work: (sql: Postgres) => Promise<void>): void {
    const lose = (cause: unknown) => this.#lose(new StoreLost(sentenceOf(cause)));
    let running: Promise<void> | undefined;
    const timer = setInterval(() => {
      if (running || this.#fault !== undefined || this.#closed) return;
      running = this.#try(() => work(this.#sql!)).catch(lose);
      void running.then(() => (running = undefined));
    }, ms);
    timer.unref();
    this.#timers.push(timer);
  }
}
