/** The books of one node: connects workers with the accounts, the store and the policy. */
import type { BooksDown, BooksUp, Grant } from "../../ledger/messages.ts";
import type { PriceRule } from "../../ledger/charge.ts";
import { Margins } from "../../ledger/margins.ts";
import type { Declared, Policy } from "../../ledger/policy.ts";
import { formatFault, type RecordBatch, type Spend } from "../../ledger/record.ts";
import { describeStoreFailure } from "../store/database.ts";
import type { BooksConnection, BooksKeeper } from "../keeper.ts";
import type { Account } from "./account.ts";
import { noteAlert } from "./alerts.ts";
import { BookAccounts } from "./book-accounts.ts";
import { removeCells } from "./cells.ts";
import { settleClaim } from "./claims.ts";
import { type BooksClock, SYSTEM_CLOCK } from "./clock.ts";
import { heldUntil } from "./early.ts";
import { Grants } from "./grants.ts";
import { Observers } from "./observers.ts";
import type { BooksOptions } from "./options.ts";
import { missedBy } from "./missed.ts";
import { type Ask, type WorkerHello, isAlive, type Peer } from "./peers.ts";
import { bury, Peers, type TakeCells } from "./peer-list.ts";
import { PolicyState } from "./policy-state.ts";
import { Questions } from "./questions.ts";
import { Reclaims } from "./reclaims.ts";
import { Recalls } from "./recalls.ts";
import { Recorder } from "../record/recorder.ts";
import { Recovery } from "./recovery.ts";
import { Reporter } from "./reporter.ts";
import { Returns } from "./returns.ts";
import { type BookStore, readStore } from "../store/store.ts";
import { Tidying } from "./tidying.ts";

/** Time between two attempts to open the store. Milliseconds. */
const REOPEN_MS = 1_000;
/** Maximum time for the last commit. Milliseconds. */
const CLOSE_MS = 2_000;

export class Books implements BooksKeeper {
  readonly store: BookStore;
  readonly observers = new Observers();
  readonly #clock: BooksClock;
  readonly #cells: string | undefined;
  readonly #isAlive: typeof isAlive;
  readonly #policy = new PolicyState();
  readonly #margins = new Margins(() => this.#clock.wall());
  readonly #peers: Peers;
  readonly #recalls: Recalls;
  readonly returns: Returns;
  /** Messages for the log, and whether the store can be used. */
  readonly reporter: Reporter;
  /** Questions of the console to the workers. */
  readonly questions: Questions;
  readonly #recorder: Recorder;
  readonly #grants: Grants;
  readonly #opened = Promise.withResolvers<void>();
  #accounts: BookAccounts | undefined;
  #recovery: Recovery | undefined;
  #positions = new Map<string, number>();
  /** The declarations of the workers, as JSON. */
  #declaredText = "";
  #tidying: Tidying | undefined;
  #closed = false;

  constructor({ store, syncMs = 50, cells, clock = SYSTEM_CLOCK, ...options }: BooksOptions) {
    this.store = store;
    this.#clock = clock;
    this.#cells = cells;
    this.#isAlive = options.isAlive ?? isAlive;
    this.#peers = new Peers(clock, this.#isAlive, (peer, take) => this.#bury(peer, take));
    this.reporter = new Reporter(clock, (fault) => this.observers.store(fault));
    this.questions = new Questions(clock, () => this.#peers.connected);
    this.#recalls = new Recalls(clock, this.#peers);
    const onStore = (fault?: unknown) => this.#onStore(fault);
    this.#recorder = new Recorder({
      ...{ store, clock, syncMs, refused: options.refused },
      onCommit: (ms, fault) => {
        onStore(fault);
        this.observers.commit(ms, fault);
      },
      onRefused: (commit, sentence) => {
        this.reporter.other(sentence);
        this.observers.refused(commit);
      },
      onReturned: (id, amount) => this.#accounts?.budgets.get(id)?.returned(amount),
      onCommitted: () => this.#trust(),
    });
    this.returns = new Returns({
      ...{ store, clock, recalls: this.#recalls, questions: this.questions, accounts: () => this.#accounts },
      isComplete: () => this.#peers.areConnected && this.#recovery?.isWhole === true,
      flush: () => this.#recorder.flush(),
      release: (account) => this.#tidying?.release(account),
    });
    const reclaims = new Reclaims({ store, returns: this.returns, recorder: this.#recorder });
    this.#grants = new Grants({
      ...{ store, clock, reclaimed: (asked) => reclaims.take(asked) },
      recall: (accounts) => this.#recalls.recall(accounts),
      keep: (account) => account.keep(this.#recorder.keep(account.id)),
      settled: () => Promise.all([this.#recovery!.done, this.#tidying!.shared]),
      onStore,
    });
  }

  open(): void {
    this.store.watch?.({
      changed: () => void this.refresh().catch((fault: unknown) => this.#onStore(fault)),
      recall: (account) => this.returns.toNode(account),
      settle: async (budget) => {
        await this.refresh();
        if (!(await this.returns.settle(budget))) throw new Error("a worker has not answered");
      },
      state: (fault) => this.reporter.shared(fault),
      lost: (rows) => this.observers.lost(rows),
    });
    void this.#open();
  }

  /** Resolves when the store is open for the first time. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** Declared and stored entries together. */
  get policy(): Policy {
    return this.#policy.policy;
  }

  /** Number of batches that are not in the store. */
  get waiting(): number {
    return this.#recorder.waiting;
  }

  /** The workers that are connected, with what they have sent last. */
  get workers(): readonly Peer[] {
    return this.#peers.connected;
  }

  /** The accounts of this node. Windows without calls since the start are absent. */
  get accounts(): BookAccounts | undefined {
    return this.#accounts;
  }

  /** Reads keys, budgets and limits again after a change in the store, and tells all workers. */
  async refresh(): Promise<void> {
    this.#changed(this.#policy.load(await this.store.policy()));
    this.reporter.closed(this.store.closedBecause);
    await this.observers.refreshed();
  }

  connect(send: (message: BooksDown) => void): BooksConnection {
    this.reporter.connected(send);
    let peer: Peer | undefined;
    const messages = heldUntil(this.#accounts ? undefined : this.opened, (message: BooksUp) => {
      if (message.kind === "hello") peer = this.#hello(message, send);
      else if (peer && this.#peers.get(peer.life) === peer) this.#take(peer, message);
    });
    return {
      receive: messages.receive,
      ended: () => {
        this.reporter.ended(send);
        messages.drop();
        if (peer?.send === send) this.#peers.lost(peer);
      },
    };
  }

  /** Returns what no worker has, writes what has arrived, and closes the store. @param passes see {@link BooksKeeper.close} */
  async close(passes = false): Promise<void> {
    this.#closed = true;
    if (!passes) (this.#peers.buryAll(), this.#recovery?.end());
    this.#tidying?.stop();
    const late = Promise.withResolvers<void>();
    const cancel = this.#clock.after(CLOSE_MS, late.resolve);
    await Promise.race([this.#recorder.flush(), late.promise]);
    cancel();
    // After a failed commit the cells say what was free.
    if (this.#recorder.isEmpty && !passes) this.#accounts?.close();
    await this.store.close();
  }

  async #open(): Promise<void> {
    try {
      const { policy, positions, rows, levels, margins } = await readStore(this.store, this.#clock.wall());
      if (this.#closed) return;
      this.#policy.load(policy);
      this.#positions = new Map(positions);
      for (const { at, ...margin } of margins) this.#margins.learn(margin, at);
      const accounts = new BookAccounts(this.#policy, this.#clock, this.#cells, this.store.isShared);
      accounts.restore(rows, levels);
      const shared = { accounts, recorder: this.#recorder, clock: this.#clock };
      this.#recovery = new Recovery({
        ...shared,
        ...{ folder: this.#cells, isAlive: this.#isAlive },
        report: (sentence) => this.reporter.other(sentence),
        positionOf: (life) => this.#peers.get(life)?.counted ?? this.#positions.get(life) ?? 0,
        over: (life) => this.#forget(life),
      });
      this.#accounts = accounts;
      this.#tidying = new Tidying({
        ...shared,
        recalls: this.#recalls,
        store: this.store,
        policy: this.#policy,
      });
    } catch (fault) {
      this.#onStore(fault);
      this.#clock.after(REOPEN_MS, () => !this.#closed && void this.#open());
      return;
    }
    this.#opened.resolve();
    this.reporter.store(undefined);
    this.reporter.closed(this.store.closedBecause);
    await this.observers.refreshed().catch((fault: unknown) => this.#onStore(fault));
  }

  /** @returns undefined for a worker of another version, whose messages would be misread, and for one that is dead */
  #hello(hello: WorkerHello, send: (message: BooksDown) => void): Peer | undefined {
    const { format, life, worker, seq, shares, cells } = hello;
    const fault = formatFault(format);
    if (fault !== undefined) return this.reporter.refuse(worker, fault, send);
    const peer = this.#peers.meet({ life, worker, cells, counted: this.#positions.get(life) ?? 0 });
    if (!peer) return undefined;
    peer.send = send;
    peer.claim = { seq, shares: new Map(shares.map(({ account, amount }) => [account, amount])) };
    const stored = Math.min(peer.counted, this.#positions.get(life) ?? 0);
    this.observers.worker(worker, life);
    if (stored > 0) send({ kind: "stored", seq: stored });
    if (this.#declaredText !== "") send({ kind: "policy", policy: this.policy });
    if (!this.#margins.isEmpty) send({ kind: "margins", margins: this.#margins.all() });
    this.#settleClaim(peer);
    this.#recalls.back(peer);
    return peer;
  }

  #take(peer: Peer, message: Exclude<BooksUp, { kind: "hello" }>): void {
    switch (message.kind) {
      case "declare":
        this.observers.settings(message.settings);
        return this.#declare(peer, message.declared, message.prices);
      case "records":
        return this.#record(peer, message.batch);
      case "ask":
        return this.#ask(peer, message);
      case "return":
        return this.#return(peer, message.account, message.amount, message.number);
      case "state":
        return this.observers.state(peer.worker, (peer.state = message.state));
      case "counted":
        return this.observers.counted(message.counted);
      case "reply":
        return this.questions.replied(message);
    }
  }

  #declare(peer: Peer, declared: Declared, prices: readonly PriceRule[]): void {
    const text = JSON.stringify([declared, prices]);
    if (text !== this.#declaredText) {
      this.#declaredText = text;
      void this.store.declare(declared, prices).catch((fault: unknown) => this.#onStore(fault));
      this.#changed(this.#policy.declare(declared), peer);
    }
    peer.send?.({ kind: "policy", policy: this.policy });
  }

  /** @param except a worker that gets the whole policy */
  #changed(changes: BooksDown | undefined, except?: Peer): void {
    this.reporter.policy(this.policy);
    const lowered = this.#accounts?.update() ?? [];
    if (changes) for (const peer of this.#peers.connected) if (peer !== except) peer.send?.(changes);
    if (lowered.length > 0) void this.returns.lowered(lowered);
  }

  #ask(peer: Peer, { number, needs, heldBefore = false }: Ask): void {
    const known: { account: Account; need: number }[] = [];
    const free: Grant[] = [];
    for (const { account: id, need } of needs) {
      const account = this.#accounts?.find(id);
      if (account) known.push({ account, need });
      // The budget was deleted: the worker will know in a moment, and the call needs nothing of it.
      else free.push({ account: id, amount: need });
    }
    this.#grants.ask({
      ...{ life: peer.life, heldBefore },
      isGone: () => this.#peers.get(peer.life) !== peer,
      needs: known,
      grant: (grants) => peer.send?.({ kind: "grant", number, grants: [...grants, ...free] }),
      refuse: (refusals) => peer.send?.({ kind: "refusal", number, refusals }),
    });
  }

  #record(peer: Peer, batch: RecordBatch): void {
    if (batch.seq <= peer.counted) {
      if (batch.seq <= (this.#positions.get(peer.life) ?? 0)) peer.send?.({ kind: "stored", seq: batch.seq });
      return;
    }
    peer.counted = batch.seq;
    for (const spend of batch.spends) this.#spend(peer, spend);
    this.#recorder.add({
      life: peer.life,
      worker: peer.worker,
      batch,
      stored: () => {
        this.#positions.set(peer.life, batch.seq);
        peer.send?.({ kind: "stored", seq: batch.seq });
      },
    });
    const margins = missedBy(batch.calls).filter((margin) => this.#margins.learn(margin));
    for (const margin of margins) this.#recorder.margin(margin);
    if (margins.length > 0)
      for (const other of this.#peers.connected) other.send?.({ kind: "margins", margins });
    this.observers.records(batch, peer.worker);
    this.#settleClaim(peer);
  }

  #spend(peer: Peer, spend: Spend): void {
    const account = this.#accounts?.budget(spend.account);
    if (!account) return;
    account.usedAt = this.#clock.monotonic();
    account.spend(peer.life, spend);
    // A share that is overdrawn comes back, so that the next draw takes the overrun into account.
    if ((account.shares.get(peer.life) ?? 0) < 0)
      peer.send?.({ kind: "recall", account: account.id, number: 0 });
    noteAlert(account, this.#recorder, this.reporter, this.observers);
  }

  #return(peer: Peer, id: string, amount: number, number?: number): void {
    this.#accounts?.find(id)?.giveBack(peer.life, amount);
    peer.claim?.shares.set(id, (peer.claim.shares.get(id) ?? 0) - amount);
    const budget = this.#accounts?.budgets.get(id);
    if (budget && budget.free < 0) this.#tidying?.release(budget);
    this.#recalls.answered(peer, id, number);
  }

  #settleClaim(peer: Peer): void {
    if (this.#accounts && settleClaim(peer, this.#accounts, this.#recorder, this.#recovery!.isDone))
      this.#recovery?.returned(peer.cells);
  }

  #bury(peer: Peer, take: TakeCells): void {
    if (this.#accounts && !this.#recovery?.ended(peer)) {
      bury(peer, take, this.#accounts, this.#recorder, (batch) => this.#record(peer, batch));
      this.#recorder.afterCommit(() => removeCells(peer.cells));
    }
    this.#trust();
    this.#recalls.gone(peer.life);
  }

  #forget(life: string): void {
    this.#peers.forget(life);
    this.#recalls.gone(life);
  }

  #trust(): void {
    if (this.#recovery?.isDone && this.#recorder.isEmpty) this.#accounts?.trust();
  }

  #onStore(fault: unknown): void {
    this.reporter.store(fault === undefined ? undefined : describeStoreFailure(fault));
  }
}
