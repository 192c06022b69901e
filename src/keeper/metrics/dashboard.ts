/** A Grafana dashboard of the metrics, as data. `weir metrics dashboard` prints it. */

interface Panel {
  title: string;
  description: string;
  unit: string;
  /** PromQL, and the legend of its series. */
  queries: readonly (readonly [expression: string, legend: string])[];
  type?: "timeseries" | "stat" | "table" | "bargauge";
  stacked?: boolean;
}

interface Alert {
  name: string;
  expression: string;
  /** How long the expression must hold. */
  lasts: string;
  summary: string;
}

const RATE = "[$__rate_interval]";
const MODEL = "by (provider, model)";

export const PANELS: readonly Panel[] = [
  {
    title: "Calls",
    description: "Calls a second by outcome.",
    unit: "reqps",
    queries: [[`sum by (outcome) (rate(weir_calls_total${RATE}))`, "{{outcome}}"]],
    stacked: true,
  },
  {
    title: "Calls in flight",
    description: "Calls that providers are answering.",
    unit: "short",
    queries: [["sum by (provider) (weir_inflight)", "{{provider}}"]],
    stacked: true,
  },
  {
    title: "Failed attempts",
    description: "Share of the attempts that were not answered.",
    unit: "percentunit",
    queries: [
      [
        `sum by (provider) (rate(weir_attempts_total{class!="answered"}${RATE})) / sum by (provider) (rate(weir_attempts_total${RATE}))`,
        "{{provider}}",
      ],
    ],
  },
  {
    title: "Errors",
    description: "Calls that ended with an error, and calls that a rule of the gateway refused.",
    unit: "reqps",
    queries: [
      [`sum by (kind, code) (rate(weir_errors_total${RATE}))`, "{{kind}} {{code}}"],
      [`sum by (reason) (rate(weir_refused_total${RATE}))`, "refused: {{reason}}"],
    ],
  },
  {
    title: "Duration of calls",
    description: "95th percentile, from the request to the end of the answer.",
    unit: "s",
    queries: [
      [
        `histogram_quantile(0.95, sum by (le, provider, model) (rate(weir_call_seconds_bucket${RATE})))`,
        "{{provider}}/{{model}}",
      ],
    ],
  },
  {
    title: "Time to the first chunk",
    description: "Median and 95th percentile.",
    unit: "s",
    queries: [0.5, 0.95].map((share) => [
      `histogram_quantile(${share}, sum by (le, provider) (rate(weir_first_chunk_seconds_bucket${RATE})))`,
      `{{provider}} p${share * 100}`,
    ]),
  },
  {
    title: "Time that weir needs",
    description: "99th percentile, from the request to the sending of the first attempt.",
    unit: "s",
    queries: [
      [`histogram_quantile(0.99, sum by (le, lane) (rate(weir_own_seconds_bucket${RATE})))`, "{{lane}}"],
    ],
  },
  {
    title: "Tokens",
    description: "Tokens a second by type, and other units, such as searches.",
    unit: "short",
    queries: [
      [`sum by (type) (rate(weir_tokens_total${RATE}))`, "{{type}}"],
      [`sum by (unit) (rate(weir_units_total${RATE}))`, "{{unit}}"],
    ],
    stacked: true,
  },
  {
    title: "Cost",
    description: "US dollars in the chosen time, by model.",
    unit: "currencyUSD",
    queries: [[`sum ${MODEL} (increase(weir_cost_dollars_total[$__range]))`, "{{provider}}/{{model}}"]],
    type: "bargauge",
  },
  {
    title: "Certainty of the cost",
    description: "US dollars an hour by state of the charge, and calls without a price.",
    unit: "currencyUSD",
    queries: [
      ["sum by (state) (rate(weir_cost_dollars_total[1h])) * 3600", "{{state}}"],
      ["increase(weir_unpriced_calls_total[1h])", "calls without a price"],
    ],
  },
  {
    title: "Budgets",
    description: "What is left of each budget.",
    unit: "percentunit",
    queries: [["sort(weir_budget_left_ratio)", "{{budget}}"]],
    type: "bargauge",
  },
  {
    title: "Budgets in dollars",
    description: "Parts of the open window of each budget.",
    unit: "currencyUSD",
    queries: [["weir_budget_dollars", "{{budget}} {{part}}"]],
  },
  {
    title: "Keys",
    description: "US dollars and calls in the chosen time, by key.",
    unit: "short",
    queries: [
      ["sum by (key) (increase(weir_key_cost_dollars_total[$__range]))", "{{key}}: dollars"],
      ["sum by (key) (increase(weir_key_calls_total[$__range]))", "{{key}}: calls"],
    ],
    type: "bargauge",
  },
  {
    title: "Not carried over",
    description: "Parts of requests and answers that were not translated, a second.",
    unit: "short",
    queries: [[`sum by (code) (rate(weir_losses_total${RATE}))`, "{{code}}"]],
    stacked: true,
  },
  {
    title: "Circuit breakers",
    description: "0 closed, 1 half-open, 2 open.",
    unit: "short",
    queries: [["weir_breaker_state", "{{deployment}}"]],
  },
  {
    title: "Ledger",
    description: "Age of the newest record at its commit, and the duration of commits.",
    unit: "s",
    queries: [
      ["max(weir_ledger_lag_seconds)", "lag"],
      [`histogram_quantile(0.99, sum by (le) (rate(weir_store_write_seconds_bucket${RATE})))`, "commit p99"],
    ],
  },
  {
    title: "Waiting records",
    description: "Records of calls that are not in the store yet: in the keeper, and on the disk.",
    unit: "short",
    queries: [
      ["max(weir_records_waiting)", "keeper"],
      ["max(weir_spool_records)", "disk"],
    ],
    stacked: true,
  },
  {
    title: "Event loop",
    description: "Its delay in each process.",
    unit: "s",
    queries: [["weir_loop_lag_seconds", "{{worker}}"]],
  },
  {
    title: "Store",
    description: "Its size.",
    unit: "bytes",
    queries: [["max(weir_store_bytes)", "store"]],
  },
  {
    title: "Processes",
    description: "Memory of each process.",
    unit: "bytes",
    queries: [["process_resident_memory_bytes", "{{worker}}"]],
  },
];

/** Marks in all panels. */
export const ANNOTATION = {
  name: "Budgets",
  expression: "increase(weir_budget_alerts_total[1m]) > 0",
  text: "{{budget}} has reached {{percent}} % of its limit",
};

export const ALERTS: readonly Alert[] = [
  {
    name: "WeirBudgetAlert",
    expression: "increase(weir_budget_alerts_total[10m]) > 0",
    lasts: "0m",
    summary: "The budget {{ $labels.budget }} has reached {{ $labels.percent }} % of its limit.",
  },
  {
    name: "WeirBudgetNearlySpent",
    expression: "weir_budget_left_ratio < 0.1",
    lasts: "1m",
    summary: "Less than 10 % of the budget {{ $labels.budget }} is left.",
  },
  {
    name: "WeirProviderFailing",
    expression:
      'sum by (provider) (rate(weir_attempts_total{class!="answered"}[5m])) / sum by (provider) (rate(weir_attempts_total[5m])) > 0.25',
    lasts: "5m",
    summary: "More than a quarter of the attempts at {{ $labels.provider }} fail.",
  },
  {
    name: "WeirBreakerOpen",
    expression: "weir_breaker_state == 2",
    lasts: "5m",
    summary: "The circuit breaker of {{ $labels.deployment }} is open.",
  },
  {
    name: "WeirCallsFailing",
    expression: 'sum(rate(weir_calls_total{outcome="failed"}[5m])) / sum(rate(weir_calls_total[5m])) > 0.05',
    lasts: "10m",
    summary: "More than 5 % of the calls fail.",
  },
  {
    name: "WeirUnpricedCalls",
    expression: "increase(weir_unpriced_calls_total[1h]) > 0",
    lasts: "0m",
    summary: "Calls ran without a price; weir prices missing lists the models.",
  },
  {
    name: "WeirLedgerBehind",
    expression: "max(weir_ledger_lag_seconds) > 10 or increase(weir_store_errors_total[5m]) > 5",
    lasts: "2m",
    summary: "Records of calls are not written to the store in time.",
  },
  {
    name: "WeirRecordsDropped",
    expression:
      "increase(weir_records_dropped_total[10m]) > 0 or increase(weir_feature_rows_lost_total[10m]) > 0",
    lasts: "0m",
    summary: "Records of calls, or rows of a feature, were lost. Budgets are still exact.",
  },
  {
    name: "WeirRestarts",
    expression:
      "sum(increase(weir_worker_restarts_total[10m])) > 3 or increase(weir_keeper_restarts_total[10m]) > 1",
    lasts: "0m",
    summary: "Processes of weir end and are started again.",
  },
];

const SOURCE = { type: "prometheus", uid: "${source}" };
const WIDTH = 12;
const HEIGHT = 8;

/** The dashboard, as Grafana imports it. */
export function dashboard(): object {
  return {
    uid: "weir",
    title: "weir",
    tags: ["weir"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [{ name: "source", label: "Data source", type: "datasource", query: "prometheus" }],
    },
    annotations: {
      list: [
        {
          name: ANNOTATION.name,
          datasource: SOURCE,
          enable: true,
          iconColor: "orange",
          expr: ANNOTATION.expression,
          titleFormat: ANNOTATION.text,
        },
      ],
    },
    panels: PANELS.map(panelOf),
  };
}

/** The alert rules, as Prometheus loads them. JSON is valid YAML. */
export function alertRules(): object {
  return {
    groups: [
      {
        name: "weir",
        rules: ALERTS.map(({ name, expression, lasts, summary }) => ({
          alert: name,
          expr: expression,
          for: lasts,
          labels: { severity: "warning" },
          annotations: { summary },
        })),
      },
    ],
  };
}

function panelOf({ title, description, unit, queries, type = "timeseries", stacked }: Panel, index: number) {
  return {
    id: index + 1,
    type,
    title,
    description,
    datasource: SOURCE,
    gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: {
      defaults: { unit, ...(stacked && { custom: { stacking: { mode: "normal" }, fillOpacity: 30 } }) },
      overrides: [],
    },
    options: type === "timeseries" ? { legend: { displayMode: "table", calcs: ["lastNotNull"] } } : {},
    targets: queries.map(([expr, legendFormat], query) => ({
      refId: String.fromCharCode(65 + query),
      datasource: SOURCE,
      expr,
      legendFormat,
    })),
  };
}
