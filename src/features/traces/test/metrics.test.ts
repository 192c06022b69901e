/** The metrics of the GenAI conventions, as a collector reads them. */
import { expect, test } from "bun:test";
import { NO_USAGE } from "../../../core/events.ts";
import type { CallRecord } from "../../../ledger/record.ts";
import { MetricsExporter } from "../metrics-exporter.ts";
import { readMetrics } from "../../../../test/helpers/otlp.ts";
import { attemptRecord, callRecord, fakePost, TestClock } from "../../../../test/helpers/telemetry.ts";

function setUp() {
  const clock = new TestClock();
  const receiver = fakePost();
  const reported: string[] = [];
  const exporter = new MetricsExporter({
    url: "http://collector/v1/metrics",
    headers: { "x-token": "abc" },
    resource: [["service.name", "gateway-1"]],
    version: "1.2.3",
    clock,
    report: (text) => void reported.push(text),
    post: receiver.post,
    compress: (text) => Bun.gzipSync(text),
  });
  const points = () => readMetrics(receiver.posted.at(-1)!.body);
  return { clock, receiver, reported, exporter, points };
}

const TARGET = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "host",
  "gen_ai.request.model": "model-1",
  "server.address": "eu.example",
  "server.port": 443,
};

function traced(more: Partial<CallRecord> = {}): CallRecord {
  const attempts = [{ at: 2, firstAt: 52, host: "eu.example", port: 443 }];
  return callRecord({
    unstored: { trace: { route: { method: "POST", path: "/v1/generate", operation: "chat" }, attempts } },
    attempts: [attemptRecord({ ms: 1_500, usage: { ...NO_USAGE, input: 7, cacheRead: 1_000, output: 3 } })],
    ...more,
  });
}

test("tokens, duration and time to the first chunk are histograms with the bounds of the conventions", async () => {
  const { clock, exporter, receiver, points } = setUp();
  exporter.add([traced(), traced()]);
  await clock.pass(59_999);
  expect(receiver.posted).toHaveLength(0);
  await clock.pass(1);
  const shared = { unit: "s", attributes: TARGET, count: 2 };
  const tokens = { metric: "gen_ai.client.token.usage", unit: "{token}", count: 2 };
  expect(points()).toEqual([
    {
      ...tokens,
      attributes: { ...TARGET, "gen_ai.token.type": "input" },
      ...{ sum: 2_014, min: 1_007, max: 1_007, buckets: [[1_024, 2]] },
    },
    {
      ...tokens,
      attributes: { ...TARGET, "gen_ai.token.type": "output" },
      ...{ sum: 6, min: 3, max: 3, buckets: [[4, 2]] },
    },
    {
      metric: "gen_ai.client.operation.duration",
      ...shared,
      ...{ sum: 3, min: 1.5, max: 1.5, buckets: [[2.56, 2]] },
    },
    {
      metric: "gen_ai.client.operation.time_to_first_chunk",
      ...shared,
      ...{ sum: 0.1, min: 0.05, max: 0.05, buckets: [[0.08, 2]] },
    },
  ]);
  expect(receiver.posted[0]!.headers).toMatchObject({ "x-token": "abc", "content-encoding": "gzip" });
});

test("figures grow from export to export, and one that is lost is made up for", async () => {
  const { clock, exporter, receiver, reported, points } = setUp();
  receiver.answer(() => ({ kind: "retry", why: "it cannot be reached", text: "" }));
  exporter.add([traced()]);
  await clock.pass(180_000);
  expect([receiver.posted.length, reported.length]).toEqual([3, 1]);
  receiver.answer(() => ({ kind: "ok", text: "" }));
  exporter.add([traced()]);
  await exporter.close();
  expect(points().map(({ count }) => count)).toEqual([2, 2, 2, 2]);
  await clock.pass(120_000);
  expect(receiver.posted).toHaveLength(4);
});

test("a failure has its error, no tokens and no first chunk", async () => {
  const { exporter, points } = setUp();
  exporter.add([
    traced(),
    traced({
      attempts: [attemptRecord({ class: "status", usage: NO_USAGE, ms: 20 })],
      unstored: { trace: { attempts: [{ at: 2, firstAt: 52, what: "503", host: "eu.example", port: 443 }] } },
    }),
    traced({ stream: false }),
  ]);
  await exporter.close();
  const failed = points().filter(({ attributes }) => "error.type" in attributes);
  expect(failed).toMatchObject([
    {
      metric: "gen_ai.client.operation.duration",
      attributes: { ...TARGET, "error.type": "503" },
      count: 1,
      buckets: [[0.02, 1]],
    },
  ]);
  const first = points().filter(({ metric }) => metric.endsWith("first_chunk"));
  expect(first.map(({ count }) => count)).toEqual([1]);
});

test("10,000 names that clients make up add one series, and the number of series is bounded", async () => {
  const { exporter, points } = setUp();
  for (let n = 0; n < 10_000; n++)
    exporter.add([
      traced({ attempts: [attemptRecord({ model: `made-up-${n}`, class: "status", usage: NO_USAGE })] }),
    ]);
  for (let n = 0; n < 10_000; n++)
    exporter.add([traced({ attempts: [attemptRecord({ model: `real-${n}` })] })]);
  await exporter.close();
  const all = points();
  expect(all.length).toBeLessThan(2_010);
  const models = new Set(all.map(({ attributes }) => String(attributes["gen_ai.request.model"])));
  expect([...models].filter((model) => model.startsWith("made-up"))).toEqual([]);
  const durations = all.filter(({ metric }) => metric.endsWith("duration"));
  expect(durations.reduce((sum, { count }) => sum + count, 0)).toBe(20_000);
  expect(all.some(({ attributes }) => attributes["otel.metric.overflow"] === true)).toBe(true);
});
