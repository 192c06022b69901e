/** How spans are sent, and what happens while the collector does not take them. */
import { expect, test } from "bun:test";
import { type ExporterOptions, SpanExporter } from "../exporter.ts";
import { spansOf } from "../spans.ts";
import type { SendResult } from "../../../http/post.ts";
import { readOtlp } from "../../../../test/helpers/otlp.ts";
import { callRecord, fakePost, settled, TestClock } from "../../../../test/helpers/telemetry.ts";

const [SPAN] = spansOf(callRecord(), { share: 1, parent: "respect", keyName: (id) => id });
const spans = (count: number) => Array.from({ length: count }, () => SPAN!);

function setUp(more: Partial<ExporterOptions> = {}) {
  const clock = new TestClock();
  const receiver = fakePost();
  const reported: string[] = [];
  const counts: Record<string, number> = {};
  const exporter = new SpanExporter({
    settings: { url: "http://user:hidden@collector.example:4318/v1/traces", headers: { "x-token": "abc" } },
    resource: [["service.name", "gateway-1"]],
    version: "1.2.3",
    clock,
    report: (text) => void reported.push(text),
    count: (result, count) => void (counts[result] = (counts[result] ?? 0) + count),
    post: receiver.post,
    compress: (text) => Bun.gzipSync(text),
    ...more,
  });
  return { clock, receiver, reported, counts, exporter };
}

test("spans are sent after five seconds, or at once when a batch is full", async () => {
  const { clock, receiver, counts, exporter } = setUp();
  exporter.add(spans(3));
  await clock.pass(4_999);
  expect(receiver.posted).toHaveLength(0);
  await clock.pass(1);
  expect(receiver.posted).toHaveLength(1);
  const [{ url, headers, body } = { url: "", headers: {}, body: "" }] = receiver.posted;
  expect(url).toEndWith("/v1/traces");
  expect(headers).toMatchObject({ "content-encoding": "gzip", "x-token": "abc", "user-agent": "weir/1.2.3" });
  const read = readOtlp(body);
  expect([read.resource, read.spans.length]).toEqual([{ "service.name": "gateway-1" }, 3]);

  exporter.add(spans(1_100));
  await settled();
  const sizes = () => receiver.posted.map(({ body }) => readOtlp(body).spans.length);
  expect(sizes()).toEqual([3, 512, 512]);
  await clock.pass(5_000);
  expect(sizes()).toEqual([3, 512, 512, 76]);
  expect(counts).toEqual({ exported: 1_103 });
});

test("while the collector is away spans wait, the queue is bounded, and what is dropped is counted and told once a minute", async () => {
  const { clock, receiver, reported, counts, exporter } = setUp();
  receiver.answer(() => ({ kind: "retry", why: "it cannot be reached", text: "" }));
  for (let added = 0; added < 30_000; added += 500) exporter.add(spans(500));
  await settled();
  expect(exporter.waiting).toBeLessThanOrEqual(20_000);
  expect(exporter.waiting + counts["dropped"]!).toBe(30_000);
  await clock.pass(50_000);
  // 1, 2, 4, 8 and 16 seconds apart.
  expect(receiver.posted.length).toBeGreaterThan(3);
  expect(receiver.posted.length).toBeLessThan(9);
  expect(reported).toHaveLength(1);
  expect(reported[0]).not.toContain("hidden");

  receiver.answer(() => ({ kind: "ok", text: "" }));
  for (let turn = 0; turn < 200 && exporter.waiting > 0; turn++) await clock.pass(30_000);
  expect(exporter.waiting).toBe(0);
  expect(counts["exported"]! + counts["dropped"]!).toBe(30_000);
});

test("the collector says how long to wait", async () => {
  const { clock, receiver, exporter } = setUp();
  receiver.answer(() => ({ kind: "retry", why: "it answers 429", afterMs: 20_000, text: "" }));
  exporter.add(spans(512));
  await settled();
  await clock.pass(19_000);
  expect(receiver.posted).toHaveLength(1);
  await clock.pass(1_000);
  expect(receiver.posted).toHaveLength(2);
});

test("spans that arrive during a request do not shorten the wait that the collector asks for", async () => {
  const { clock, receiver, exporter } = setUp();
  const answered = Promise.withResolvers<SendResult>();
  receiver.answer(() => answered.promise);
  exporter.add(spans(512));
  await settled();
  exporter.add(spans(1));
  answered.resolve({ kind: "retry", why: "it answers 503", afterMs: 60_000, text: "" });
  await settled();
  await clock.pass(59_000);
  expect(receiver.posted).toHaveLength(1);
  await clock.pass(1_000);
  expect(receiver.posted).toHaveLength(2);
});

test("what the collector refuses is not sent again, and counted", async () => {
  const { clock, receiver, reported, counts, exporter } = setUp();
  receiver.answer(() => ({ kind: "refused", why: "it answers 401", text: "" }));
  exporter.add(spans(4));
  await clock.pass(60_000);
  expect([receiver.posted.length, counts]).toEqual([1, { refused: 4 }]);
  expect(reported[0]).toContain("401");
  receiver.answer(() => ({
    kind: "ok",
    text: '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"x"}}',
  }));
  exporter.add(spans(4));
  await clock.pass(5_000);
  expect(counts).toEqual({ refused: 5, exported: 3 });
});

test("a collector on the port of gRPC is named as the probable mistake", async () => {
  const { clock, receiver, reported, exporter } = setUp({
    settings: { url: "http://collector:4317/v1/traces", headers: {} },
  });
  receiver.answer(() => ({ kind: "retry", why: "it cannot be reached", text: "" }));
  exporter.add(spans(1));
  await clock.pass(5_000);
  expect(reported[0]).toContain("gRPC");
});

test("at the end everything that waits is sent; a collector that is away delays nothing", async () => {
  const { receiver, counts, exporter } = setUp();
  exporter.add(spans(5));
  await exporter.close();
  expect([receiver.posted.length, counts]).toEqual([1, { exported: 5 }]);

  const away = setUp();
  away.receiver.answer(() => ({ kind: "retry", why: "it cannot be reached", text: "" }));
  away.exporter.add(spans(5));
  await away.exporter.close();
  expect(away.counts).toEqual({ dropped: 5 });
});
