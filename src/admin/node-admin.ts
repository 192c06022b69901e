/** Reads and changes the books of this node for the admin API. */
import type { AccountFigures, AdminBooks, BooksCondition, RateFigures, StoreInfo } from "./books.ts";
import { AdminError } from "../operator/errors.ts";
import type { Noted } from "../core/slot.ts";
import { describeThrown } from "../core/error-text.ts";
import type { PriceRule } from "../ledger/charge.ts";
import type { Budget, KeyEntry, Policy, RateLimit } from "../ledger/policy.ts";
import { priceBookDays } from "../ledger/prices/age.ts";
import { PriceBook } from "../ledger/prices/book.ts";
import { whatIf } from "../ledger/prices/whatif.ts";
import { describeStoreFailure } from "../keeper/store/database.ts";
import type { Books } from "../keeper/books/books.ts";
import type { BudgetAccount } from "../keeper/books/budget-account.ts";
import { type BudgetGauge, Metrics } from "../keeper/metrics/metrics.ts";
import type { Upkeep } from "../keeper/store/upkeep.ts";
import type { Report, Reports } from "../keeper/reports/reports.ts";
import type { Filter, Invoice } from "../keeper/reports/shapes.ts";
import { usedOf } from "../keeper/reports/used-targets.ts";
import { nodeModels } from "./node-models.ts";
import { Proofs } from "./proofs.ts";
import { provingOf } from "./proving.ts";
import { KEYS } from "../keeper/books/returns.ts";
import { grantedBy } from "../keeper/books/shares.ts";
import type { AccountRow, Actor } from "../keeper/store/store.ts";
import { Workers } from "../keeper/books/workers.ts";

export interface NodeAdminOptions {
  books: Books;
  upkeep: Upkeep;
  version: string;
  /** The keeper is a process, not a thread of its only worker. */
  isProcess: boolean;
  /** Starts of the keeper after the first. */
  restarts?: number;
  offers: Noted;
  /** `file`: only the config may contain keys for calls. Default: `both`. */
  keys?: "both" | "file";
  metrics: { keys: boolean; maxSeries: number };
}

export class NodeAdmin implements AdminBooks {
  readonly #options: NodeAdminOptions;
  readonly #metrics: Metrics;
  /** With the prices that the workers declare; a reload changes them. */
  #prices = new PriceBook();
  readonly gateway: Workers;
  readonly models = nodeModels((write) => this.#change((books) => books.store.change(write)));
  readonly #proofs = new Proofs(provingOf((read) => this.#read(read), this));
  /** Size of the store, and accounts that other nodes share, at the last look, which a scrape does not wait for. */
  #bytes: number | undefined;
  #stored: readonly AccountRow[] = [];

  constructor(options: NodeAdminOptions) {
    const { books, metrics, version, isProcess } = options;
    this.#options = options;
    this.gateway = new Workers(books);
    this.#proofs.watch();
    this.#metrics = new Metrics({ ...metrics, version, isProcess });
    books.observers.add({
      settings: ({ prices }) => void (this.#prices = new PriceBook(prices)),
      records: ({ calls, dropped = 0 }, worker) => {
        const now = Date.now();
        for (const call of calls) this.#metrics.record(String(worker), call, this.#keyName, now);
        this.gateway.heard(calls, now);
        if (dropped > 0) this.#metrics.dropped(String(worker), dropped);
      },
      worker: (worker, life) => this.#metrics.started(String(worker), life),
      commit: (ms, fault) =>
        fault === undefined ? this.#metrics.committed(ms / 1_000) : this.#metrics.commitFailed(),
      refused: ({ batches }) => {
        for (const { worker, calls } of batches)
          if (calls.length > 0) this.#metrics.dropped(String(worker), calls.length);
      },
      lost: ({ feature, calls }) => this.#metrics.lostRows(feature, calls),
      alert: (budget, percent) => this.#metrics.alerted(this.#budgetName(budget), percent),
      counted: (counted) => this.#metrics.counted(counted),
    });
  }

  get offers(): Noted {
    return this.#options.offers;
  }

  opened(): Promise<void> {
    return this.#options.books.reporter.known;
  }

  report(message: string, cause: unknown): void {
    this.#options.books.reporter.other(`${message}: ${describeThrown(cause)}`);
  }

  policy(): Policy {
    return this.#options.books.policy;
  }

  get storesCallKeys(): boolean {
    return this.#options.keys !== "file";
  }

  keyFacts() {
    return this.#read((reports) => reports.keyFacts());
  }

  saveKey(key: KeyEntry, actor: Actor): Promise<void> {
    const isKnown = this.policy().keys.some(({ id }) => id === key.id);
    const save = (books: Books) => books.store.saveKey(key, actor);
    return isKnown ? this.#change(save, KEYS) : this.#opening(save);
  }

  saveBudget(budget: Budget, actor: Actor): Promise<void> {
    return this.#change((books) => books.store.saveBudget(budget, actor), budget.id);
  }

  saveRate = (rate: RateLimit, actor: Actor) => this.#change((books) => books.store.saveRate(rate, actor));

  async deleteBudget(id: string, actor: Actor): Promise<boolean> {
    let found = false;
    await this.#change(async (books) => (found = await books.store.deleteBudget(id, actor)));
    return found;
  }

  async deleteRate(id: string, actor: Actor): Promise<boolean> {
    let found = false;
    await this.#change(async (books) => (found = await books.store.deleteRate(id, actor)));
    return found;
  }

  /** The accounts of the store, with what this node has not written yet. */
  accounts(): Promise<readonly AccountFigures[]> {
    return this.#try(async () => {
      const { books } = this.#options;
      const rows = this.#newest(await books.store.accounts(Date.now()));
      const granted = grantedBy(books);
      return rows.map((row) => ({ ...row, held: granted(row.account).held }));
    });
  }

  /** Other nodes book too: what this node knows of a window is its state at the last draw. */
  #newest(stored: readonly AccountRow[]): AccountRow[] {
    const { accounts, store } = this.#options.books;
    const rows = new Map(stored.map((row) => [row.account, row]));
    for (const account of accounts?.budgets.values() ?? []) {
      const row = store.isShared ? rows.get(account.id) : undefined;
      rows.set(account.id, row ? account.rowWith(row, true) : account.row);
    }
    return [...rows.values()];
  }

  rates(): Promise<readonly RateFigures[]> {
    const rates = [...(this.#options.books.accounts?.rates.values() ?? [])];
    return Promise.resolve(rates.map((rate) => ({ account: rate.id, left: rate.available() })));
  }

  read<Value>(report: Report<Value>): Promise<Value> {
    return this.#read((reports) => reports.read(report));
  }
  write: AdminBooks["write"] = (work) =>
    this.#try(() => this.#options.books.store.change((outer) => outer.transaction(work)));

  usage(query: Parameters<Reports["usage"]>[0]) {
    return this.#read((reports) => reports.usage(query));
  }

  calls(filter: Parameters<Reports["calls"]>[0]) {
    return this.#read((reports) => reports.calls(filter));
  }

  summary(filter: Parameters<Reports["summary"]>[0]) {
    return this.#read((reports) => reports.summary(filter));
  }

  deployments(query: Parameters<Reports["deployments"]>[0]) {
    return this.#read((reports) => reports.deployments(query));
  }

  names(within: string) {
    return this.#read((reports) => reports.names(within));
  }

  call(id: string) {
    return this.#read((reports) => reports.call(id));
  }

  rules = (refs: readonly string[]) => this.#read((reports) => reports.rules(refs));

  prices({ q, of, limit, after }: Parameters<AdminBooks["prices"]>[0]) {
    if (of) return Promise.resolve({ prices: of.flatMap((target) => this.#priceOf(target) ?? []) });
    const name = ({ provider, model }: { provider: string; model: string }) => `${provider}/${model}`;
    const found = this.#prices.list(q, { most: limit + 1, ...(after !== undefined && { after }) });
    const prices = found.slice(0, limit);
    const next = found.length > limit ? { next: name(prices.at(-1)!) } : {};
    return Promise.resolve({ prices, ...next });
  }

  /** Named as it was asked for: a rule may be that of the model behind another name. */
  #priceOf(target: string): PriceRule | undefined {
    const slash = target.indexOf("/");
    const [provider, model] = [target.slice(0, slash), target.slice(slash + 1)];
    const rule = this.#prices.lookup(provider, model);
    return rule && { ...rule, provider, model };
  }

  missingPrices() {
    return this.#read((reports) => reports.missingPrices());
  }

  whatIf({ map, ...filter }: Filter & { map: Readonly<Record<string, string>> }) {
    return this.#read(async (reports) => {
      const { rows } = await reports.usage({ ...filter, by: ["provider", "model"] });
      return whatIf(usedOf(rows), map, (provider, model) => this.#prices.lookup(provider, model));
    });
  }

  assumptions(query: { limit: number; after?: string }) {
    return this.#read((reports) => reports.assumptions(query));
  }

  invoices() {
    return this.#read((reports) => reports.invoices());
  }

  reconcile(invoice: Invoice, actor: Actor) {
    return this.#read((reports) => reports.reconcile(invoice, actor));
  }

  audit(maxAgeMs?: number) {
    return this.#proofs.get(maxAgeMs);
  }

  note(...entry: Parameters<AdminBooks["note"]>): Promise<void> {
    return this.#read((reports) => reports.note(...entry));
  }

  auditLog(query: { limit: number; after?: string }) {
    return this.#read((reports) => reports.auditLog(query));
  }

  store(): Promise<StoreInfo> {
    return this.#try(async () => {
      const { books, upkeep } = this.#options;
      const info = await upkeep.info();
      return {
        ...info,
        waiting: books.waiting,
        ...(books.reporter.fault !== undefined && { fault: books.reporter.fault }),
      };
    });
  }

  backup(path: string, actor: Actor) {
    return this.#try(() => this.#options.upkeep.backup(path, actor));
  }

  check() {
    return this.#try(() => this.#options.upkeep.check());
  }

  prune(what: Parameters<Upkeep["prune"]>[0], actor: Actor) {
    return this.#try(() => this.#options.upkeep.prune(what, actor));
  }

  release = (actor: Actor) => this.#change(() => this.#options.upkeep.release(actor));
  openKeys = (actor: Actor) => this.#opening(() => this.#options.upkeep.openKeys(actor));

  health() {
    const { books, version } = this.#options;
    return { version, degraded: books.reporter.fault === undefined ? [] : ["ledger"] };
  }

  condition(): BooksCondition {
    const { books } = this.#options;
    const { fault } = books.reporter;
    const closed = books.store.closedBecause;
    return {
      waiting: books.waiting,
      ...(fault !== undefined && { fault }),
      ...(closed !== undefined && { closed }),
      ...(this.#proofs.last && { proof: this.#proofs.last }),
      priceAgeDays: priceBookDays(Date.now()),
    };
  }

  metrics(): string {
    const { books, upkeep } = this.#options;
    void Promise.try(() => upkeep.info()).then(
      ({ bytes }) => (this.#bytes = bytes),
      () => {},
    );
    if (books.store.isShared)
      void Promise.try(() => books.store.accounts(Date.now())).then(
        (rows) => (this.#stored = rows),
        () => {},
      );
    return this.#metrics.text({
      workers: books.workers.map(({ worker, state }) => ({
        worker: String(worker),
        ...(state && { state }),
      })),
      budgets: this.#budgets(),
      waiting: books.waiting,
      keeperRestarts: this.#options.restarts ?? 0,
      ...(upkeep.spooled !== undefined && { spooled: upkeep.spooled }),
      ...(this.#bytes !== undefined && { storeBytes: this.#bytes }),
      priceAgeDays: priceBookDays(Date.now()),
    });
  }

  readonly #keyName = (id: string): string => this.policy().keys.find((key) => key.id === id)?.name ?? id;

  readonly #budgetName = (id: string) => this.policy().budgets.find((entry) => entry.id === id)?.name ?? id;

  /** The open windows. A budget without one has not been used in its window. */
  #budgets(): BudgetGauge[] {
    const now = Date.now();
    const granted = grantedBy(this.#options.books);
    const open = this.#newest(this.#stored).filter(
      ({ startsAt, endsAt = Infinity }) => startsAt <= now && now < endsAt,
    );
    return this.policy().budgets.map(({ id, name, limit, alerts }) => {
      const row = open.find(({ budget }) => budget === id);
      const { spent, assumed, overrun } = row ?? { spent: 0, assumed: 0, overrun: 0 };
      return { name, limit, alerts, spent, assumed, overrun, held: row ? granted(row.account).held : 0 };
    });
  }

  /** Writes to the store, and tells the workers before the answer is sent. @param taken what all shall have taken over: a budget, or the keys */
  #change(write: (books: Books) => Promise<unknown>, taken?: string): Promise<void> {
    return this.#try(async () => {
      const { books } = this.#options;
      await write(books);
      await books.refresh();
      const fault = taken === undefined ? undefined : await books.returns.settleAll(taken);
      if (fault) throw new AdminError(503, `${taken === KEYS ? "key" : "limit"}_not_confirmed`, fault);
    });
  }

  /** Calls are admitted that were refused before: who reads the answer may call at once. */
  async #opening(write: (books: Books) => Promise<unknown>): Promise<void> {
    await this.#change(write);
    await this.#options.books.returns.admits();
  }

  #read<Value>(read: (reports: Reports) => Promise<Value>): Promise<Value> {
    return this.#try(() => read(this.#options.upkeep.reports));
  }

  /** @throws AdminError 503 if the store fails */
  async #try<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof AdminError) throw cause;
      this.report("the store failed for the admin API", cause);
      const { fault } = this.#options.books.reporter;
      const why = fault ?? describeStoreFailure(cause);
      throw new AdminError(503, "store_failed", `The books cannot be used: ${why}.`);
    }
  }
}
