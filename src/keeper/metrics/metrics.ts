/** The metrics of a gateway: from the records of its workers and from what they do at the moment. */
import { type Counted, OTHER } from "../../core/metric.ts";
import type { WorkerState } from "../../ledger/messages.ts";
import { DOLLAR, type Nano } from "../../ledger/money.ts";
import type { AttemptRecord, CallRecord } from "../../ledger/record.ts";
import { FAMILIES, STATES, TOTALS } from "./families.ts";
import { type Gauge, Registry } from "./registry.ts";

export interface MetricsOptions {
  /** Series for each key, the first {@link MOST_KEYS}. */
  keys: boolean;
  /** At least 1,000. */
  maxSeries: number;
  version: string;
  /** The keeper is a process, not a thread of its only worker. */
  isProcess: boolean;
}

/** The open window of a budget. */
export interface BudgetGauge {
  name: string;
  limit: Nano;
  spent: Nano;
  assumed: Nano;
  held: Nano;
  overrun: Nano;
  /** Percentages of the limit that are reported. */
  alerts?: readonly number[];
}

/** Figures of the books at the moment of a scrape. */
export interface Moment {
  /** The workers that are connected, with what each has sent last. */
  workers: readonly { worker: string; state?: WorkerState }[];
  budgets: readonly BudgetGauge[];
  /** Records that wait for a commit. */
  waiting: number;
  spooled?: number;
  storeBytes?: number;
  priceAgeDays?: number;
  keeperRestarts?: number;
}

/** Keys with series of their own. */
const MOST_KEYS = 200;
/** Error codes with series of their own: a provider may have any number of them. */
const MOST_CODES = 100;
/** Units with series of their own: a plugin may name any. */
const MOST_UNITS = 32;
/** Targets that are remembered because they have answered. */
const MOST_TARGETS = 2_000;
/** Share of the series for what has happened; the others are for budgets and for what workers do at the moment. */
const TOTAL_SHARE = 0.75;
/** Share of the series that budgets may have, and lines for each. */
const BUDGET_SHARE = 0.2;
const BUDGET_LINES = 6;

const NONE = "none";
const OWN: ReadonlySet<string> = new Set(FAMILIES.map(({ name }) => name));

export class Metrics {
  readonly #options: MetricsOptions;
  readonly #registry: Registry;
  readonly #keys = new Set<string>();
  readonly #codes = new Set<string>();
  readonly #units = new Set<string>();
  /** `provider/model` of what has answered: a name that a client made up has no series. */
  readonly #targets = new Set<string>();
  readonly #lags = new Map<string, number>();
  /** Deployments at which calls were in flight; the operator names them all. */
  readonly #used = new Set<string>();
  /** The newest life of each worker. */
  readonly #lives = new Map<string, string>();

  constructor(options: MetricsOptions) {
    this.#options = options;
    this.#registry = new Registry(options.maxSeries * TOTAL_SHARE);
  }

  /** A record that the store has. @param keyName name of a key by its id @param now milliseconds since 1970 */
  record(worker: string, record: CallRecord, keyName: (id: string) => string, now: number): void {
    const {
      attempts,
      format,
      lane = NONE,
      outcome,
      ms,
      firstMs,
      ownMs,
      error,
      refused,
      losses = [],
    } = record;
    for (const attempt of attempts) this.#attempt(attempt);
    const last = attempts.at(-1);
    const target = last ? [format, last.provider, this.#model(last)] : [format, NONE, NONE];
    const registry = this.#registry;
    registry.add(TOTALS.calls, [...target, lane, outcome]);
    registry.observe(TOTALS.callSeconds, target, ms / 1_000);
    if (firstMs !== undefined) registry.observe(TOTALS.firstChunkSeconds, target, firstMs / 1_000);
    if (ownMs !== undefined) registry.observe(TOTALS.ownSeconds, [lane], ownMs / 1_000);
    if (attempts.some(({ charge }) => charge.state === "unpriced")) registry.add(TOTALS.unpriced, []);
    for (const { code } of losses) registry.add(TOTALS.losses, [code]);
    if (error) registry.add(TOTALS.errors, [error.kind, within(this.#codes, error.code ?? NONE, MOST_CODES)]);
    if (refused) registry.add(TOTALS.refused, [refused]);
    if (record.key !== undefined && this.#options.keys) this.#key(keyName(record.key), attempts);
    registry.add(TOTALS.records, [worker]);
    this.#lags.set(worker, Math.max(0, now - record.startedAt - ms) / 1_000);
  }

  /** Adds the counts of a worker for metrics of features and plugins. */
  counted(counted: readonly Counted[]): void {
    for (const one of counted) if (!OWN.has(one.metric.name)) this.#registry.merge(one);
  }

  /** Records that a worker could not keep until the keeper took them. */
  dropped(worker: string, count: number): void {
    this.#registry.add(TOTALS.dropped, [worker], count);
  }

  /** A worker has connected. @param life names this run of it */
  started(worker: string, life: string): void {
    if (this.#lives.get(worker) === life) return;
    // The first start makes the series: an alert on its increase would miss the first restart.
    this.#registry.add(TOTALS.workerRestarts, [worker], this.#lives.has(worker) ? 1 : 0);
    this.#lives.set(worker, life);
  }

  /** @param seconds duration of a commit */
  committed(seconds: number): void {
    this.#registry.observe(TOTALS.storeSeconds, [], seconds);
  }

  commitFailed(): void {
    this.#registry.add(TOTALS.storeErrors, []);
  }

  /** Calls without their rows in the tables of a feature. */
  lostRows(feature: string, calls: number): void {
    this.#registry.add(TOTALS.lostRows, [feature], calls);
  }

  alerted(budget: string, percent: number, windows = 1): void {
    this.#registry.add(TOTALS.alerts, [budget, String(percent)], windows);
  }

  /** @returns Prometheus text */
  text(moment: Moment): string {
    // Series begin at zero: an alert on an increase would miss the first one.
    for (const { name, alerts = [] } of moment.budgets.slice(0, this.#mostBudgets))
      for (const percent of alerts) this.alerted(name, percent, 0);
    return this.#registry.text([
      ...this.#ofWorkers(moment.workers),
      ...this.#ofBudgets(moment.budgets),
      ...this.#ofStore(moment),
      { family: STATES.info, labels: [this.#options.version], value: 1 },
    ]);
  }

  #attempt(attempt: AttemptRecord): void {
    const { provider, deployment, usage, charge } = attempt;
    if (attempt.class === "answered" && this.#targets.size < MOST_TARGETS)
      this.#targets.add(`${provider}/${attempt.model}`);
    const model = this.#model(attempt);
    const registry = this.#registry;
    registry.add(TOTALS.attempts, [provider, deployment, attempt.class]);
    const count = (type: string, tokens: number) => {
      if (tokens > 0) registry.add(TOTALS.tokens, [provider, model, type], tokens);
    };
    const { cacheWrite1h = 0 } = usage;
    count("input", usage.input);
    count("cache_read", usage.cacheRead);
    count("cache_write", usage.cacheWrite - cacheWrite1h);
    count("cache_write_1h", cacheWrite1h);
    count("output", usage.output);
    count("reasoning", usage.reasoning);
    for (const [name, units] of Object.entries(usage.units ?? {}))
      registry.add(TOTALS.units, [provider, model, within(this.#units, name, MOST_UNITS)], units);
    if (charge.state !== "free") registry.add(TOTALS.cost, [provider, model, charge.state], charge.cost);
  }

  #key(name: string, attempts: readonly AttemptRecord[]): void {
    const labels = [within(this.#keys, name, MOST_KEYS)];
    this.#registry.add(TOTALS.keyCalls, labels);
    const cost = attempts.reduce((sum, { charge }) => sum + charge.cost, 0);
    this.#registry.add(TOTALS.keyCost, labels, cost);
  }

  #model({ provider, model }: AttemptRecord): string {
    return this.#targets.has(`${provider}/${model}`) ? model : OTHER;
  }

  #ofWorkers(workers: Moment["workers"]): Gauge[] {
    const breakers = new Map<string, number>();
    const inflight = new Map<string, number>();
    const gauges: Gauge[] = [];
    for (const { worker, state } of workers) {
      const lag = this.#lags.get(worker);
      if (lag !== undefined) gauges.push({ family: STATES.lag, labels: [worker], value: lag });
      if (!state) continue;
      for (const { deployment, state: breaker } of state.breakers)
        breakers.set(deployment, Math.max(breakers.get(deployment) ?? 0, BREAKER[breaker]));
      for (const { deployment, calls } of state.inflight)
        inflight.set(deployment, (inflight.get(deployment) ?? 0) + calls);
      gauges.push(
        { family: STATES.loopLag, labels: [worker], value: state.loopLag },
        { family: STATES.memory, labels: [worker], value: state.memory },
      );
    }
    if (this.#options.isProcess)
      gauges.push({ family: STATES.memory, labels: ["keeper"], value: process.memoryUsage.rss() });
    for (const [deployment, value] of breakers)
      gauges.push({ family: STATES.breaker, labels: [providerOf(deployment), deployment], value });
    return [...gauges, ...this.#inflightOf(inflight)];
  }

  /** A scaler has to tell a gateway without calls from one that it does not know: each has at least one series. */
  #inflightOf(inflight: ReadonlyMap<string, number>): Gauge[] {
    for (const deployment of inflight.keys()) this.#used.add(deployment);
    if (this.#used.size === 0) return [{ family: STATES.inflight, labels: ["", ""], value: 0 }];
    return [...this.#used].map((deployment) => ({
      family: STATES.inflight,
      labels: [providerOf(deployment), deployment],
      value: inflight.get(deployment) ?? 0,
    }));
  }

  /** Budgets beyond their share of the series are added up under `other`, without a ratio. */
  #ofBudgets(budgets: readonly BudgetGauge[]): Gauge[] {
    const most = this.#mostBudgets;
    const shown = budgets.slice(0, most);
    const gauges = shown.flatMap((budget) => [...partsOf(budget), leftOf(budget)]);
    if (budgets.length <= most) return gauges;
    const others = budgets.slice(most).reduce((sum, budget) => ({
      name: OTHER,
      limit: sum.limit + budget.limit,
      spent: sum.spent + budget.spent,
      assumed: sum.assumed + budget.assumed,
      held: sum.held + budget.held,
      overrun: sum.overrun + budget.overrun,
    }));
    return [...gauges, ...partsOf({ ...others, name: OTHER })];
  }

  get #mostBudgets(): number {
    return Math.floor((this.#options.maxSeries * BUDGET_SHARE) / BUDGET_LINES) - 1;
  }

  #ofStore({ waiting, spooled = 0, storeBytes, priceAgeDays, keeperRestarts = 0 }: Moment): Gauge[] {
    const values = [
      [STATES.waiting, waiting],
      [STATES.spool, spooled],
      [STATES.storeBytes, storeBytes],
      [STATES.priceAge, priceAgeDays],
      [STATES.keeperRestarts, keeperRestarts],
    ] as const;
    return values.flatMap(([family, value]) => (value === undefined ? [] : [{ family, labels: [], value }]));
  }
}

const BREAKER = { closed: 0, "half-open": 1, open: 2 } as const;

/** A deployment is named `provider` or `provider/name`. */
function providerOf(deployment: string): string {
  return deployment.split("/", 1)[0]!;
}

/** The value if it is one of the first `most` of its set. */
function within(known: Set<string>, value: string, most: number): string {
  if (known.has(value)) return value;
  if (known.size >= most) return OTHER;
  known.add(value);
  return value;
}

function partsOf({ name, limit, spent, assumed, held, overrun }: BudgetGauge): Gauge[] {
  return Object.entries({ limit, spent, assumed, held, overrun }).map(([part, amount]) => ({
    family: STATES.budgetDollars,
    labels: [name, part],
    value: amount / DOLLAR,
  }));
}

function leftOf({ name, limit, spent, assumed, held }: BudgetGauge): Gauge {
  const left = limit === 0 ? 0 : Math.max(0, (limit - spent - assumed - held) / limit);
  return { family: STATES.budgetLeft, labels: [name], value: left };
}
