/** The dashboard and the alert rules against the list of metrics. */
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { resolve } from "node:path";
import type { Family } from "../../src/core/metric.ts";
import { ALERTS, alertRules, ANNOTATION, dashboard, PANELS } from "../../src/keeper/metrics/dashboard.ts";
import { FAMILIES } from "../../src/keeper/metrics/families.ts";

const ROOT = resolve(import.meta.dir, "../..");

const SERIES = new Map<string, Family>(
  FAMILIES.flatMap((family): [string, Family][] =>
    family.type === "histogram"
      ? ["_bucket", "_sum", "_count"].map((suffix) => [family.name + suffix, family])
      : [[family.name, family]],
  ),
);
const expressions = [
  ...PANELS.flatMap(({ queries }) => queries.map(([expression]) => expression)),
  ...ALERTS.map(({ expression }) => expression),
  ANNOTATION.expression,
];

/** Names of metrics in an expression, and of the labels that it uses. */
function namesIn(expression: string): { metrics: string[]; labels: string[] } {
  const bare = expression.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^\]]*\]/g, "");
  const labels = [...bare.matchAll(/\b(?:by|without|ignoring|on)\s*\(([^)]*)\)/g)].flatMap(([, list]) =>
    list!.split(",").map((label) => label.trim()),
  );
  const matchers = [...bare.matchAll(/\{([^}]*)\}/g)].flatMap(([, list]) =>
    [...list!.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
  );
  const rest = bare
    .replaceAll(/\b(?:by|without|ignoring|on)\s*\([^)]*\)/g, " ")
    .replaceAll(/\{[^}]*\}/g, " ");
  const words = [...rest.matchAll(/[a-z_][a-z0-9_]*(?!\w*\s*\()/gi)].map(([word]) => word);
  return {
    metrics: words.filter((word) => !["or", "and", "unless"].includes(word)),
    labels: [...labels, ...matchers],
  };
}

test("the dashboard has 20 panels and there are 9 alert rules, each with a sentence", () => {
  expect(PANELS).toHaveLength(20);
  expect(ALERTS).toHaveLength(9);
  for (const { title, description } of PANELS) expect(`${title}: ${description}`).toMatch(/^.+: .+\.$/);
  for (const { summary } of ALERTS) expect(summary).toMatch(/\.$/);
});

test("every expression names metrics and labels that weir has", () => {
  for (const expression of expressions) {
    const { metrics, labels } = namesIn(expression);
    expect(metrics.length).toBeGreaterThan(0);
    const families = metrics.map((name) => SERIES.get(name));
    expect([expression, metrics.filter((name) => !SERIES.has(name))]).toEqual([expression, []]);
    const known = new Set(["le", ...families.flatMap((family) => family!.labels)]);
    expect([expression, labels.filter((label) => !known.has(label))]).toEqual([expression, []]);
  }
});

test("an expression with an unknown metric or label is found", () => {
  expect(namesIn('sum by (provider) (rate(weir_call_total{clas="x"}[5m])) > 0.5')).toEqual({
    metrics: ["weir_call_total"],
    labels: ["provider", "clas"],
  });
});

test("the legends and summaries use labels that their expressions keep", () => {
  for (const { queries } of PANELS)
    for (const [expression, legend] of queries)
      for (const [, label] of legend.matchAll(/\{\{(\w+)\}\}/g)) {
        const { metrics, labels } = namesIn(expression);
        const grouped = /\bby\s*\(/.test(expression);
        const kept = grouped ? labels : SERIES.get(metrics[0]!)!.labels;
        expect([expression, kept.includes(label!)]).toEqual([expression, true]);
      }
});

test("panels do not overlap, and the documents are plain JSON", () => {
  const board = JSON.parse(JSON.stringify(dashboard())) as {
    panels: { gridPos: { x: number; y: number } }[];
  };
  const places = board.panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
  expect(new Set(places).size).toBe(PANELS.length);
  expect(JSON.stringify(alertRules())).toContain("WeirBudgetNearlySpent");
});

/** Declared, and on no panel and in no alert: facts about weir itself that no curve explains. */
const LEFT_OUT = [
  "weir_records_total",
  "weir_series_folded_total",
  "weir_outlines_total",
  "weir_price_age_days",
  "weir_info",
  // Features may be left out of a build.
  "weir_tokens_checked_total",
  "weir_spans_total",
  "weir_tool_calls_total",
  "weir_tool_repairs_total",
  "weir_alerts_sent_total",
  "weir_guard_verdicts_total",
  "weir_guard_seconds",
  "weir_guard_unavailable_total",
  "weir_guard_uninspected_total",
  "weir_guard_unrestored_total",
  "weir_guard_canary_total",
  "weir_batch_lines_total",
  "weir_batch_losses_total",
  "weir_batch_events_total",
  "weir_batches_total",
  "weir_witness_changes_total",
  "weir_witness_looks_total",
];

test("every metric that the code declares is on the dashboard, in an alert, or left out by name", async () => {
  const shown = new Set(
    expressions.flatMap((expression) => namesIn(expression).metrics.map((name) => SERIES.get(name)?.name)),
  );
  const declared = new Set(FAMILIES.map(({ name }) => name));
  // Also those of features, and any that is declared and in no list.
  for await (const file of new Glob("src/**/*.ts").scan(ROOT)) {
    const text = await Bun.file(`${ROOT}/${file}`).text();
    for (const [, name] of text.matchAll(/\b(?:counter|gauge|histogram)\(\s*"([a-z_]+)"/g))
      declared.add(name!);
  }
  expect(declared.size).toBeGreaterThan(FAMILIES.length);
  expect([...declared].filter((name) => !shown.has(name)).toSorted()).toEqual(LEFT_OUT.toSorted());
});
