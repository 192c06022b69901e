/** The metrics: names, labels and help texts, as Prometheus and the dashboard see them. */
import { counter, type Family, gauge, histogram } from "../../core/metric.ts";

/** From 10 ms to 5.5 minutes, each twice the one before. Seconds. */
const LONG = Array.from({ length: 16 }, (_, power) => 0.01 * 2 ** power);
/** From 50 µs to 100 ms. Seconds. */
const SHORT = [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1];
const TARGET = ["format", "provider", "model"] as const;

const NANO = 1e9;

/** Counters and histograms. They only grow while the keeper lives, whatever becomes of the workers. */
export const TOTALS = {
  calls: counter("weir_calls_total", [...TARGET, "lane", "outcome"], "Calls that have ended."),
  callSeconds: histogram("weir_call_seconds", TARGET, LONG, "From the request to the end of the answer."),
  firstChunkSeconds: histogram(
    "weir_first_chunk_seconds",
    TARGET,
    LONG,
    "From the request to the first event of the answer.",
  ),
  ownSeconds: histogram(
    "weir_own_seconds",
    ["lane"],
    SHORT,
    "What weir itself needs, from the request to the sending of the first attempt.",
  ),
  tokens: counter("weir_tokens_total", ["provider", "model", "type"], "Tokens of all attempts."),
  units: counter(
    "weir_units_total",
    ["provider", "model", "unit"],
    "Units besides tokens of all attempts, such as searches.",
  ),
  cost: counter(
    "weir_cost_dollars_total",
    ["provider", "model", "state"],
    "Charges of all attempts, in US dollars.",
    NANO,
  ),
  unpriced: counter("weir_unpriced_calls_total", [], "Calls with a charge that has no price."),
  attempts: counter(
    "weir_attempts_total",
    ["provider", "deployment", "class"],
    "Attempts by how they ended: answered, or the class of the failure.",
  ),
  losses: counter("weir_losses_total", ["code"], "Parts of requests and answers that were not translated."),
  errors: counter("weir_errors_total", ["kind", "code"], "Calls that ended with an error."),
  refused: counter("weir_refused_total", ["reason"], "Calls that a rule of the gateway refused."),
  keyCalls: counter("weir_key_calls_total", ["key"], "Calls by gateway key."),
  keyCost: counter("weir_key_cost_dollars_total", ["key"], "Charges by gateway key, in US dollars.", NANO),
  records: counter("weir_records_total", ["worker"], "Records of calls in the store."),
  dropped: counter("weir_records_dropped_total", ["worker"], "Records of calls that were lost."),
  storeErrors: counter("weir_store_errors_total", [], "Commits that failed."),
  lostRows: counter(
    "weir_feature_rows_lost_total",
    ["feature"],
    "Calls that are in the store without their rows in the tables of a feature.",
  ),
  storeSeconds: histogram("weir_store_write_seconds", [], LONG, "Duration of a commit."),
  alerts: counter(
    "weir_budget_alerts_total",
    ["budget", "percent"],
    "Windows in which a budget reached a percentage of its limit.",
  ),
  workerRestarts: counter("weir_worker_restarts_total", ["worker"], "Starts of a worker after the first."),
  folded: counter(
    "weir_series_folded_total",
    [],
    "Observations that were counted under `other`, because there were too many series.",
  ),
} as const;

/** Values of the moment of the scrape, of others than this keeper. */
export const STATES = {
  breaker: gauge(
    "weir_breaker_state",
    ["provider", "deployment"],
    "Circuit breaker: 0 closed, 1 half-open, 2 open; the worst of all workers.",
  ),
  inflight: gauge(
    "weir_inflight",
    ["provider", "deployment"],
    "Calls in flight in all workers; 0 without labels before the first call.",
  ),
  budgetDollars: gauge(
    "weir_budget_dollars",
    ["budget", "part"],
    "The open window of a budget, in US dollars.",
  ),
  budgetLeft: gauge("weir_budget_left_ratio", ["budget"], "What is left of the limit of a budget, 0 to 1."),
  lag: gauge("weir_ledger_lag_seconds", ["worker"], "Age of the newest record of a worker at its commit."),
  waiting: gauge("weir_records_waiting", [], "Records that wait for a commit in the keeper."),
  spool: gauge("weir_spool_records", [], "Records that wait on the disk, because the store is away."),
  storeBytes: gauge("weir_store_bytes", [], "Size of the store."),
  loopLag: gauge("weir_loop_lag_seconds", ["worker"], "Delay of the event loop."),
  memory: gauge(
    "process_resident_memory_bytes",
    ["worker"],
    "Resident memory; of the keeper with several workers.",
  ),
  priceAge: gauge("weir_price_age_days", [], "Age of the shipped price book."),
  keeperRestarts: counter("weir_keeper_restarts_total", [], "Starts of the keeper after the first."),
  info: gauge("weir_info", ["version"], "1."),
} as const;

export const FAMILIES: readonly Family[] = [...Object.values(TOTALS), ...Object.values(STATES)];
