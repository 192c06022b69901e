/** Metrics that workers count: what the keeper adds up, over several workers and connections. */
import { expect, test } from "bun:test";
import { type Counted, counter, histogram, OTHER } from "../../src/core/metric.ts";
import { Metrics } from "../../src/keeper/metrics/metrics.ts";
import type { BooksUp } from "../../src/ledger/messages.ts";
import { WorkerMeter } from "../../src/ledger/worker/meter.ts";
import { parsePrometheus, valueOf } from "../helpers/prometheus.ts";

const words = counter("weir_words_total", ["kind"], "Words of answers.");
const seen = counter("weir_seen_total", [], "Answers that were counted.");
const sizes = histogram("weir_size_words", ["kind"], [10, 100], "Size of answers.");

/** Workers with a keeper between them. */
function connected() {
  const metrics = new Metrics({ keys: true, maxSeries: 1_000, version: "1.2.3", isProcess: true });
  const link = {
    isUp: true,
    /** Messages as the link has them: JSON. */
    send(message: BooksUp) {
      const { kind, counted } = JSON.parse(JSON.stringify(message)) as { kind: string; counted: Counted[] };
      expect(kind).toBe("counted");
      metrics.counted(counted);
    },
  };
  const text = () => parsePrometheus(metrics.text({ workers: [], budgets: [], waiting: 0 }));
  const samples = (name: string) => text().get(name)?.samples ?? [];
  return { link, text, samples };
}

test("counters and histograms of two workers add up, each count once", () => {
  const { link, text } = connected();
  const [one, other] = [new WorkerMeter(link), new WorkerMeter(link)];
  one.add(words, ["answer"], 5);
  one.add(words, ["answer"]);
  one.observe(sizes, ["answer"], 10);
  other.add(words, ["answer"], 2);
  other.observe(sizes, ["answer"], 11);
  other.observe(sizes, ["answer"], 1_000);
  for (const meter of [one, other, one]) meter.flush();
  const read = text();
  expect(valueOf(read, "weir_words_total", { kind: "answer" })).toBe(8);
  const bucket = (le: string) => valueOf(read, "weir_size_words_bucket", { kind: "answer", le });
  expect([bucket("10"), bucket("100"), bucket("+Inf")]).toEqual([1, 2, 3]);
  expect(valueOf(read, "weir_size_words_sum", { kind: "answer" })).toBe(1_021);
  expect(valueOf(read, "weir_size_words_count", { kind: "answer" })).toBe(3);
});

test("a declared counter without labels is at 0, at the next keeper too", () => {
  const first = connected();
  const meter = new WorkerMeter(first.link);
  meter.declare([words, seen]);
  meter.flush();
  expect(first.samples("weir_seen_total")).toMatchObject([{ value: 0 }]);
  expect(first.samples("weir_words_total").length).toBe(0);
});

test("what is counted without a keeper waits, and a new connection has the declared ones again", () => {
  const { link, text, samples } = connected();
  const meter = new WorkerMeter(link);
  meter.declare([seen]);
  link.isUp = false;
  meter.add(seen, [], 3);
  meter.flush();
  expect(samples("weir_seen_total").length).toBe(0);
  link.isUp = true;
  meter.flush();
  expect(valueOf(text(), "weir_seen_total")).toBe(3);
  meter.declareAgain();
  meter.flush();
  expect(valueOf(text(), "weir_seen_total")).toBe(3);
});

test("more series than may wait are counted under another label, and none is lost", () => {
  const { link, samples } = connected();
  const meter = new WorkerMeter(link);
  for (let kind = 0; kind < 5_000; kind++) meter.add(words, [String(kind)]);
  meter.flush();
  const series = samples("weir_words_total");
  expect(series.length).toBeLessThanOrEqual(1_000);
  expect(series.reduce((sum, { value }) => sum + value, 0)).toBe(5_000);
  expect(series.find(({ labels }) => labels["kind"] === OTHER)?.value).toBeGreaterThan(3_000);
});

test("a metric that is declared with other labels begins at 0, and no metric of weir can be counted", () => {
  const { link, text, samples } = connected();
  const meter = new WorkerMeter(link);
  meter.add(words, ["answer"], 4);
  // Without a keeper in between, both declarations wait.
  meter.add(counter("weir_words_total", ["kind", "model"], "Words."), ["answer", "m"], 1);
  meter.add(counter("weir_store_errors_total", [], "Not its own."), [], 7);
  meter.flush();
  const series = samples("weir_words_total");
  expect(series.map(({ labels, value }) => [labels, value])).toEqual([[{ kind: "answer", model: "m" }, 1]]);
  expect(valueOf(text(), "weir_store_errors_total")).toBe(0);
});
