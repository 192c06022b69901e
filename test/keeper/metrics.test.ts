/** The metrics, by a strict parser of their text. */
import { expect, test } from "bun:test";
import { NO_USAGE } from "../../src/core/events.ts";
import { FAMILIES } from "../../src/keeper/metrics/families.ts";
import { Metrics } from "../../src/keeper/metrics/metrics.ts";
import type { AttemptRecord, CallRecord } from "../../src/ledger/record.ts";
import { parsePrometheus, valueOf } from "../helpers/prometheus.ts";

const MOMENT = { workers: [], budgets: [], waiting: 0 };
const OPTIONS = { keys: true, maxSeries: 5_000, version: "1.2.3", isProcess: true };

const parsed = (metrics: Metrics, moment = MOMENT) => parsePrometheus(metrics.text(moment));

function attemptOf(more: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    provider: "mock",
    deployment: "mock",
    model: "chat",
    class: "answered",
    ms: 10,
    usage: { ...NO_USAGE, input: 7, output: 3 },
    charge: { state: "metered", cost: 13, price: "p" },
    held: 20,
    accounts: [],
    ...more,
  };
}

function recordOf(more: Partial<CallRecord> = {}): CallRecord {
  return {
    id: "req_1",
    startedAt: 1_000,
    ms: 250,
    firstMs: 20,
    ownMs: 0.2,
    key: "key_1",
    format: "f",
    lane: "native",
    model: "chat",
    stream: true,
    status: 200,
    outcome: "complete",
    attempts: [attemptOf()],
    ...more,
  };
}

const feed = (metrics: Metrics, ...records: CallRecord[]) => {
  for (const record of records) metrics.record("1", record, (id) => id, 2_000);
};

test("a scrape is valid Prometheus text, and all its families are in the list of families", () => {
  const metrics = new Metrics(OPTIONS);
  feed(
    metrics,
    recordOf(),
    recordOf({ attempts: [], lane: undefined, outcome: "failed", refused: "budget" }),
  );
  feed(
    metrics,
    recordOf({
      error: { kind: "quota", code: 'a"b\\c\nd' },
      losses: [{ code: "dropped", path: "x" }],
      attempts: [attemptOf({ usage: { ...NO_USAGE, input: 1, units: { search: 2 } } })],
    }),
  );
  const state = {
    inflight: [{ deployment: "mock/a", calls: 2 }],
    breakers: [{ deployment: "mock/a", state: "open" as const }],
    memory: 1e8,
    loopLag: 0.001,
  };
  metrics.committed(0.003);
  metrics.commitFailed();
  metrics.dropped("1", 4);
  metrics.lostRows("words", 3);
  metrics.alerted("eng", 80);
  const budget = { name: 'the "budget"', limit: 4e9, spent: 1e9, assumed: 1e9, held: 1e9, overrun: 0 };
  const moment = {
    workers: [{ worker: "1", state }],
    budgets: [budget],
    waiting: 1,
    spooled: 2,
    storeBytes: 3,
    priceAgeDays: 4,
    keeperRestarts: 5,
  };
  const families = parsePrometheus(metrics.text(moment));
  const listed = new Map(FAMILIES.map((family) => [family.name, family]));
  expect([...families.keys()].filter((name) => !listed.has(name))).toEqual([]);
  const absent = [...listed.keys()].filter((name) => !families.has(name));
  expect(absent).toEqual(["weir_worker_restarts_total"]);
  for (const { name, type, samples } of families.values()) {
    expect(listed.get(name)!.type as string).toBe(type);
    for (const { labels } of samples)
      expect(Object.keys(labels).filter((label) => label !== "le")).toEqual([...listed.get(name)!.labels]);
  }
  expect(valueOf(families, "weir_units_total", { unit: "search" })).toBe(2);
  expect(valueOf(families, "weir_budget_left_ratio", { budget: 'the "budget"' })).toBe(0.25);
  expect(valueOf(families, "weir_budget_dollars", { part: "limit" })).toBe(4);
  expect(valueOf(families, "weir_errors_total", { code: 'a"b\\c\nd' })).toBe(1);
  expect(valueOf(families, "weir_breaker_state", { provider: "mock", deployment: "mock/a" })).toBe(2);
});

test("a gateway without calls in flight says so, before its first call and after its last", () => {
  const metrics = new Metrics(OPTIONS);
  const inflightOf = (...inflight: { deployment: string; calls: number }[]) => {
    const state = { inflight, breakers: [], memory: 1, loopLag: 0 };
    const text = metrics.text({ workers: [{ worker: "1", state }], budgets: [], waiting: 0 });
    return text.split("\n").filter((line) => line.startsWith("weir_inflight"));
  };
  expect(inflightOf()).toEqual(['weir_inflight{provider="",deployment=""} 0']);
  const busy = inflightOf({ deployment: "mock/a", calls: 2 });
  expect(busy).toEqual(['weir_inflight{provider="mock",deployment="mock/a"} 2']);
  expect(inflightOf()).toEqual(['weir_inflight{provider="mock",deployment="mock/a"} 0']);
});

test("counters equal the sums of the records", () => {
  const metrics = new Metrics(OPTIONS);
  const states = ["metered", "reported", "estimated", "assumed", "unpriced", "free"] as const;
  const records = Array.from({ length: 1_000 }, (_, index) =>
    recordOf({
      ms: index,
      key: `key_${index % 3}`,
      attempts: Array.from({ length: index % 3 }, (_, n) =>
        attemptOf({
          charge: { state: states[(index + n) % 6]!, cost: (index + n) % 6 > 3 ? 0 : index * 7 + n },
          usage: {
            ...NO_USAGE,
            input: index,
            cacheRead: 1,
            cacheWrite: 5,
            cacheWrite1h: 2,
            output: n,
            reasoning: 1,
          },
        }),
      ),
    }),
  );
  feed(metrics, ...records);
  const families = parsed(metrics);
  const attempts = records.flatMap((record) => record.attempts);
  const sumOf = (of: (attempt: AttemptRecord) => number) => attempts.reduce((sum, one) => sum + of(one), 0);
  expect(valueOf(families, "weir_calls_total")).toBe(1_000);
  expect(valueOf(families, "weir_records_total")).toBe(1_000);
  expect(valueOf(families, "weir_call_seconds_count")).toBe(1_000);
  expect(valueOf(families, "weir_attempts_total")).toBe(attempts.length);
  expect(Math.round(valueOf(families, "weir_cost_dollars_total") * 1e9)).toBe(
    sumOf(({ charge }) => charge.cost),
  );
  expect(Math.round(valueOf(families, "weir_key_cost_dollars_total") * 1e9)).toBe(
    sumOf(({ charge }) => charge.cost),
  );
  for (const [type, of] of [
    ["input", ({ usage }: AttemptRecord) => usage.input],
    ["cache_write", () => 3],
    ["cache_write_1h", () => 2],
    ["output", ({ usage }: AttemptRecord) => usage.output],
  ] as const)
    expect(valueOf(families, "weir_tokens_total", { type })).toBe(sumOf(of));
  expect(valueOf(families, "weir_unpriced_calls_total")).toBe(
    records.filter((record) => record.attempts.some(({ charge }) => charge.state === "unpriced")).length,
  );
});

test("10,000 names that clients made up add no series of models, and 10,000 keys add 200", () => {
  const metrics = new Metrics(OPTIONS);
  feed(metrics, recordOf());
  const linesBefore = metrics.text(MOMENT).split("\n").length;
  for (let index = 0; index < 10_000; index++)
    feed(
      metrics,
      recordOf({
        key: `key_${index}`,
        model: `made-up-${index}`,
        outcome: "failed",
        attempts: [
          attemptOf({ model: `made-up-${index}`, class: "never", charge: { state: "free", cost: 0 } }),
        ],
        error: { kind: "not-found", code: `code-${index}` },
      }),
    );
  const text = metrics.text(MOMENT);
  expect(text).not.toContain("made-up");
  const families = parsePrometheus(text);
  expect(valueOf(families, "weir_calls_total", { model: "other" })).toBe(10_000);
  expect(families.get("weir_key_calls_total")!.samples).toHaveLength(201);
  expect(valueOf(families, "weir_key_calls_total", { key: "other" })).toBe(9_800);
  expect(families.get("weir_errors_total")!.samples).toHaveLength(101);
  expect(text.split("\n").length).toBeLessThan(linesBefore + 2 * 201 + 101 + 60);
  expect(valueOf(families, "weir_series_folded_total")).toBe(0);
});

test("series stay below the limit, and what has no series of its own is counted under other", () => {
  const metrics = new Metrics({ ...OPTIONS, maxSeries: 1_000 });
  for (let index = 0; index < 10_000; index++)
    feed(
      metrics,
      recordOf({
        key: `key_${index}`,
        attempts: [
          attemptOf({
            provider: `p${index % 50}`,
            deployment: `p${index % 50}/d${index}`,
            model: `m${index}`,
          }),
        ],
        error: { kind: "k", code: `c${index}` },
      }),
    );
  const budgets = Array.from({ length: 3_000 }, (_, index) => ({
    name: `budget ${index}`,
    limit: 2e9,
    spent: 1e9,
    assumed: 0,
    held: 0,
    overrun: 0,
  }));
  const text = metrics.text({ ...MOMENT, budgets });
  const families = parsePrometheus(text);
  const series = text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
  expect(series).toBeLessThanOrEqual(1_000);
  expect(valueOf(families, "weir_calls_total")).toBe(10_000);
  expect(valueOf(families, "weir_attempts_total")).toBe(10_000);
  expect(valueOf(families, "weir_key_calls_total")).toBe(10_000);
  expect(valueOf(families, "weir_budget_dollars", { part: "spent" })).toBe(3_000);
  expect(valueOf(families, "weir_series_folded_total")).toBeGreaterThan(10_000);
});

test("without metrics.keys there is no series for a key", () => {
  const metrics = new Metrics({ ...OPTIONS, keys: false });
  feed(metrics, recordOf());
  expect(metrics.text(MOMENT)).not.toContain("key_1");
});

test("counters do not fall when a worker ends and starts again", () => {
  const metrics = new Metrics(OPTIONS);
  metrics.started("1", "a");
  feed(metrics, recordOf(), recordOf());
  const before = parsed(metrics);
  metrics.started("1", "b");
  metrics.started("1", "b");
  const after = parsed(metrics);
  for (const { type, samples } of before.values())
    if (type !== "gauge")
      for (const { name, labels, value } of samples)
        expect(valueOf(after, name, labels)).toBeGreaterThanOrEqual(value);
  expect(valueOf(after, "weir_worker_restarts_total", { worker: "1" })).toBe(1);
  expect(after.get("weir_loop_lag_seconds")).toBeUndefined();
});

test("a scrape of 5,000 series takes at most 200 ms", () => {
  const metrics = new Metrics({ ...OPTIONS, maxSeries: 8_000 });
  for (let index = 0; index < 2_000; index++)
    feed(metrics, recordOf({ attempts: [attemptOf({ model: `m${index}` })], key: `k${index}` }));
  const started = performance.now();
  const text = metrics.text(MOMENT);
  const took = performance.now() - started;
  expect(text.split("\n").length).toBeGreaterThan(4_500);
  expect(took).toBeLessThan(200);
});
