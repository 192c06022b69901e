/**
 * The ledger of one worker. It admits calls from what the keeper has granted, in plain numbers and without waiting; it asks the
 * keeper where that does not suffice, and sends it what calls have cost.
 */
import type { Attempt, Call } from "../../core/call.ts";
import type { Columns, Recorder } from "../../core/column.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Principal } from "../../core/principal.ts";
import {
  type Admitted,
  type CostBound,
  DISCOUNT,
  type Ledger,
  type PromptSource,
} from "../../core/ledger.ts";
import { endsWithin } from "../../core/within.ts";
import type { Cells } from "../cells.ts";
import type { BooksChannel } from "../channel.ts";
import type { BookSettings, BooksDown, WorkerState } from "../messages.ts";
import type { PriceRule } from "../charge.ts";
import type { Declared, Policy } from "../policy.ts";
import { Asks } from "./asks.ts";
import { boundOf } from "./bound.ts";
import { Booking, bookingOf, chargedTo } from "./booking.ts";
import { RECORD_FORMAT } from "../record.ts";
import { recordOf, TimeOfDay } from "./call-record.ts";
import { chargedSize, outputLimit } from "./estimate.ts";
import { Estimates } from "./estimates.ts";
import { describeBooking } from "./foresee.ts";
import { CallLimits } from "./figures.ts";
import { countCall, freePlaces, reportAll, settleAll, shortsOf, takeAll, toldOf } from "./holds.ts";
import { Lines, type Prices } from "./lines.ts";
import { Outbox } from "./outbox.ts";
import { applyChanges } from "./policy-state.ts";
import { Queries } from "./queries.ts";
import { Questions } from "./questions.ts";
import { Prompts, sessionOf } from "./prompts.ts";
import { REFUSED_BY } from "../../core/refusal.ts";
import { policyUnknown, refuse, unavailable } from "./refusal.ts";
import { runningCalls, soFarOf } from "./running.ts";
import { isClosed, type LedgerSettings, type LossSettings, lossSettings } from "./settings.ts";
import { settlementOf } from "./settlement.ts";
import { Shares } from "./shares.ts";
import { StreamHold } from "./stream-hold.ts";

/** Declarations of the config; a reload replaces them. */
export interface Declaration {
  declared: Declared;
  prices: Prices;
  /** The prices of the config, for the store. */
  rules: readonly PriceRule[];
  settings: LedgerSettings;
  books: BookSettings;
}

export interface WorkerLedgerOptions {
  channel: BooksChannel;
  cells: Cells;
  columns: Columns;
  /** Number of the worker; 0 if there is only one. */
  worker: number;
  clock?: TimeOfDay;
  /** Called with each message of the keeper, before the ledger acts on it. */
  onMessage?(message: BooksDown): void;
  /** They run before the columns of a call are added to its record; a reload replaces them. */
  recorders?: readonly Recorder[];
  /** The store may have budgets: calls wait for the policy of the keeper. */
  awaitsPolicy?: boolean;
}

/** Longest wait of a call for the policy of the keeper. Milliseconds. */
const POLICY_MS = 2000;
/** Longest wait for the keeper when the worker ends. Milliseconds. */
const CLOSE_MS = 1000;

export class WorkerLedger implements Ledger {
  readonly #options: WorkerLedgerOptions & { readonly recorders: readonly Recorder[] };
  readonly #channel: BooksChannel;
  readonly #shares: Shares;
  readonly #outbox: Outbox;
  readonly #clock: TimeOfDay;
  readonly #asks: Asks;
  readonly #queries: Queries;
  readonly #questions: Questions;
  readonly #policyKnown = Promise.withResolvers<void>();
  #declaration: Declaration;
  #policy: Policy | undefined;
  #lines: Lines;
  #awaitsPolicy: boolean;
  /** The keeper can write to its store. */
  #hasStore = false;
  readonly #prompts = new Prompts();
  readonly #estimates = new Estimates(() => this.#declaration.settings);

  constructor(declaration: Declaration, options: WorkerLedgerOptions) {
    this.#options = { recorders: [], ...options };
    this.#awaitsPolicy = options.awaitsPolicy ?? false;
    this.#channel = options.channel;
    this.#shares = new Shares(options.channel, options.cells);
    this.#clock = options.clock ?? new TimeOfDay();
    this.#outbox = new Outbox(options.channel, options.cells.regions);
    this.#queries = new Queries(options.channel);
    this.#questions = new Questions(this.#queries, this.#outbox, () => this.#known);
    this.#asks = new Asks(options.channel, (account) => this.#shares.get(account));
    this.#declaration = declaration;
    this.#lines = new Lines(declaration.declared, declaration.prices);
    this.#channel.listen({
      up: () => this.#up(),
      down: () => {},
      message: (message) => this.#receive(message),
    });
  }

  /** Activates what a reload of the config declares. */
  declare(declaration: Declaration): void {
    this.#declaration = declaration;
    this.#compile();
    this.#sendDeclaration();
  }

  admit(attempt: Attempt, admitted: Admitted): void | Promise<void> {
    if (this.#awaitsPolicy) return this.#admitLater(attempt, admitted);
    const { call } = attempt;
    const booking = (attempt.booking = bookingOf(this.#lines.to(attempt), attempt, admitted));
    const { applied } = booking;
    if (call.principal !== undefined) this.#estimates.checkScopes(attempt, booking, admitted);
    if (applied.lines.length === 0) return void applied.running.calls++;
    if (applied.hasSessions) booking.session = sessionOf(call, admitted.affinity());
    if (applied.needsSize) this.#estimates.estimate(attempt, booking, admitted);
    const suffices = takeAll(this.#shares, this.#clock.at(attempt.startedAt), attempt, booking);
    call.limits = new CallLimits(booking, this.#declaration.settings.tell);
    if (suffices) return this.#admitted(attempt, booking);
    return this.#wait(attempt, booking);
  }

  async #admitLater(attempt: Attempt, admitted: Admitted): Promise<void> {
    await endsWithin(this.#policyKnown.promise, POLICY_MS);
    if (attempt.stop.reason) throw attempt.stop.reason;
    if (this.#awaitsPolicy) {
      // A budget that this process does not know would be passed without limit.
      if (this.#declaration.settings.onLoss !== "open") throw policyUnknown();
      this.#awaitsPolicy = false;
    }
    await this.admit(attempt, admitted);
  }

  #admitted(attempt: Attempt, booking: Booking): void {
    attempt.call.refused = undefined;
    booking.applied.running.calls++;
    if (booking.heldOutput >= booking.output) return;
    attempt.outputLimit = outputLimit(booking.heldOutput, booking.output);
    attempt.onOutputLimit = () => this.#extend(attempt, booking);
  }

  /** Waits until the keeper has granted what is missing. */
  #wait(attempt: Attempt, booking: Booking): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const admitted = () => {
      this.#admitted(attempt, booking);
      resolve();
    };
    const settings = this.#lossSettings;
    this.#asks.ask({
      heldBefore: booking.asksFirst,
      shorts: () => shortsOf(booking, attempt),
      take: () =>
        attempt.stop.reason !== undefined ||
        takeAll(this.#shares, this.#clock.at(attempt.startedAt), attempt, booking),
      granted: () => (attempt.stop.reason ? reject(attempt.stop.reason) : admitted()),
      refused: (refusals) => {
        if (refusals.some(({ unavailable }) => unavailable)) return withoutKeeper();
        const { line, refusal: said } = toldOf(refusals, booking.shares);
        const refusal = refuse(line, said, booking.need(line), settings.tell);
        attempt.call.refused = refusal.reason;
        if (refusal.by) REFUSED_BY.set(attempt.call, refusal.by);
        reject(refusal);
      },
      silent: () => withoutKeeper(),
    });
    const withoutKeeper = () => {
      const closed = shortsOf(booking, attempt).find(({ share }) => isClosed(share.line, settings));
      if (closed) return reject(unavailable(closed.share.line, settings.unreleased));
      takeAll(this.#shares, this.#clock.at(attempt.startedAt), attempt, booking, true);
      admitted();
    };
    return promise;
  }

  get #known() {
    const { declared, settings } = this.#declaration;
    return { policy: this.#policy ?? declared, modelSets: declared.modelSets, tell: settings.tell };
  }

  get #lossSettings(): LossSettings {
    return lossSettings(this.#declaration.settings, this.#policy?.unreleased);
  }

  #extend(attempt: Attempt, booking: Booking): void {
    new StreamHold(attempt, booking, this.#lossSettings, this.#asks).extend();
  }

  foresee(attempt: Attempt, admitted: Admitted): JsonObject {
    const booking = new Booking(this.#lines.of(attempt.call.principal, attempt.target));
    booking.size = chargedSize(admitted.size(attempt.target), booking.applied.rule);
    this.#estimates.expect(attempt, booking);
    return describeBooking(booking);
  }

  bound(attempt: Attempt, admitted: Pick<Admitted, "size">, outputShare: number): CostBound {
    return boundOf(attempt, admitted, outputShare, { lines: this.#lines, estimates: this.#estimates });
  }

  readonly describeKey = (principal: Principal) => this.#questions.describeKey(principal);
  readonly standing = (principal: Principal) => this.#questions.standing(principal);
  readonly budgetsLeft = () => this.#questions.budgetsLeft();

  charge(attempt: Attempt): void {
    const applied = this.#lines.to(attempt);
    const booking = new Booking(applied);
    const now = this.#clock.at(attempt.startedAt);
    const lines = applied.lines.filter(({ on, unit }) => unit === "money" && on.kind !== "session");
    booking.shares = lines.map((line) => this.#shares.of(line, now, undefined));
    booking.holds = lines.map(() => 0);
    attempt.booking = booking;
    applied.running.calls++;
  }

  count({ principal, startedAt }: Call): void {
    countCall(this.#shares, this.#lines.ofCall(principal), this.#clock.at(startedAt));
  }

  notePrompt(attempt: Attempt, prompt: PromptSource): void {
    this.#prompts.note(attempt, prompt);
  }

  settle(attempt: Attempt): void {
    const { booking } = attempt;
    if (!(booking instanceof Booking) || booking.charge) return;
    attempt.outputLimit = Infinity;
    const { charge, used } = settlementOf(attempt, booking, this.#declaration.settings);
    booking.charge = charge;
    booking.applied.running.calls--;
    const { rule } = booking.applied;
    if (rule && charge.price !== undefined) this.#outbox.use(rule);
    settleAll(booking, charge, used);
    this.#estimates.learn(attempt, booking);
  }

  close(call: Call): void {
    const { attempts, attempt } = call;
    const isApart = attempt?.booking instanceof Booking && attempts.at(-1) !== attempt;
    const booked = isApart ? [...attempts, attempt] : attempts;
    for (const made of booked) {
      this.settle(made);
      if (!(made.booking instanceof Booking)) continue;
      freePlaces(made.booking);
      reportAll(made.booking, this.#outbox);
    }
    call.endedAt ??= performance.now();
    const record = recordOf(call, booked, this.#clock.at(call.startedAt), this.#prompts.recordOf(call));
    for (const record of this.#options.recorders) record(call, booked);
    this.#options.columns.addTo(record, call, booked);
    this.#outbox.record(record);
  }

  /** Calls that run, as the console shows them: the longest of them. */
  running(calls: readonly Call[]): NonNullable<WorkerState["running"]> {
    return runningCalls(calls, (startedAt) => this.#clock.at(startedAt));
  }

  readonly charged = chargedTo;
  readonly soFar = (call: Call): object => soFarOf(call, this.#clock.at(call.startedAt));

  /** Answers a question of the keeper. */
  reply(number: number, answer: { value: unknown } | { error: string }): void {
    this.#channel.send({ kind: "reply", number, ...answer });
  }

  /** Sends what the worker does at the moment. */
  report(state: Omit<WorkerState, "inflight">): void {
    const inflight = this.#lines.running.map(({ deployment, calls }) => ({ deployment, calls }));
    this.#channel.send({ kind: "state", state: { ...state, inflight } });
  }

  /** Gives back all shares, and waits until the records are stored. @returns whether they are */
  async end(): Promise<boolean> {
    this.#outbox.flush();
    this.#shares.returnAll();
    this.#shares.close();
    const until = performance.now() + CLOSE_MS;
    while (this.#hasStore && this.#channel.isUp && !this.#outbox.isEmpty && performance.now() < until)
      await Bun.sleep(5);
    return this.#outbox.isEmpty;
  }

  #up(): void {
    this.#outbox.seal();
    const { worker, cells } = this.#options;
    this.#channel.send({
      kind: "hello",
      format: RECORD_FORMAT,
      life: cells.life,
      worker,
      seq: this.#outbox.seq,
      shares: this.#shares.states(),
      ...(cells.file !== undefined && { cells: cells.file }),
    });
    this.#sendDeclaration();
    this.#outbox.resend();
    this.#asks.resend();
    this.#queries.resend();
  }

  #sendDeclaration(): void {
    const { declared, rules, books } = this.#declaration;
    this.#channel.send({ kind: "declare", declared, prices: rules, settings: books });
  }

  #receive(message: BooksDown): void {
    this.#options.onMessage?.(message);
    switch (message.kind) {
      case "policy":
        return this.#setPolicy(message.policy);
      case "changes":
        return this.#policy && this.#setPolicy(applyChanges(this.#policy, message));
      case "grant":
        return this.#asks.grant(message.number, message.grants);
      case "refusal":
        return this.#asks.refuse(message.number, message.refusals);
      case "recall":
        return this.#shares.recall(message.account, message.number);
      case "passes":
        return this.#asks.passes();
      case "stored":
        this.#hasStore = true;
        return this.#outbox.stored(message.seq);
      case "answer":
        return this.#queries.answered(message);
      case "margins":
        return this.#estimates.note(message.margins);
      case "store":
        this.#hasStore = message.fault === undefined;
        return;
    }
  }

  #setPolicy(policy: Policy): void {
    const { budgets, rates } = this.#policy ?? {};
    this.#policy = policy;
    this.#awaitsPolicy = false;
    if (budgets !== policy.budgets || rates !== policy.rates) this.#compile();
    this.#policyKnown.resolve();
  }

  #compile({ declared, prices } = this.#declaration): void {
    const policy = { ...(this.#policy ?? declared), modelSets: declared.modelSets };
    this.#lines = new Lines(policy, prices, this.#lines);
  }
}
