/** Metrics of plugins: names, bounds and faults, up to what the keeper scrapes for two workers. */
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import type { Counted } from "../../src/core/metric.ts";
import type { Plugin } from "../../src/core/plugin.ts";
import { defineCounter, defineHistogram } from "../../src/plugin.ts";
import { Metrics } from "../../src/keeper/metrics/metrics.ts";
import type { BooksUp } from "../../src/ledger/messages.ts";
import { WorkerMeter } from "../../src/ledger/worker/meter.ts";
import { metricsOf, PluginMeter } from "../../src/run/plugin-metrics.ts";
import { startWeir } from "../../src/run/weir.ts";
import { makeFolder } from "../helpers/gateway.ts";
import { parsePrometheus } from "../helpers/prometheus.ts";
import { ask, until } from "../helpers/serving.ts";

/** The plugins of a worker, whose meter reaches the keeper. */
function workerOf(keeper: Metrics, plugin: Plugin) {
  const link = {
    isUp: true,
    send: (message: BooksUp) =>
      keeper.counted((JSON.parse(JSON.stringify(message)) as { counted: Counted[] }).counted),
  };
  const faults: string[] = [];
  const meter = new WorkerMeter(link);
  new PluginMeter(meter, (sentence) => faults.push(sentence)).connect([{ plugin, source: "test" }]);
  return { faults, flush: () => meter.flush() };
}

const newKeeper = () => new Metrics({ keys: true, maxSeries: 1_000, version: "1.2.3", isProcess: true });

const read = (keeper: Metrics, name: string) =>
  parsePrometheus(keeper.text({ workers: [], budgets: [], waiting: 0 })).get(name)?.samples ?? [];

const makePlugin = () => {
  const seen = defineCounter({ name: "seen_total", help: "Calls.", labels: ["team"] });
  const sizes = defineHistogram({ name: "size", help: "Sizes.", buckets: [10, 100] });
  return { seen, sizes, plugin: { name: "my-plugin.x", metrics: [seen, sizes] } satisfies Plugin };
};

test("the metrics of a plugin in two workers add up under its name", () => {
  const keeper = newKeeper();
  const workers = [makePlugin(), makePlugin()].map((one) => ({ ...one, ...workerOf(keeper, one.plugin) }));
  for (const { seen, sizes, flush } of workers) {
    seen.add({ team: "red" });
    seen.add({ team: "blue" }, 2.5);
    sizes.observe({}, 50);
    flush();
  }
  const counts = read(keeper, "weir_plugin_my_plugin_x_seen_total").map(({ labels, value }) => [
    labels["team"],
    value,
  ]);
  expect(counts).toEqual([
    ["red", 2],
    ["blue", 5],
  ]);
  const sum = read(keeper, "weir_plugin_my_plugin_x_size").filter(({ name }) => /_(sum|count)$/.test(name));
  expect(sum.map(({ value }) => value)).toEqual([100, 2]);
});

test("beyond 100 combinations of labels a metric counts under other, also after a reload, and says so once", () => {
  const keeper = newKeeper();
  const { seen, plugin } = makePlugin();
  const { faults, flush } = workerOf(keeper, plugin);
  for (let team = 0; team < 250; team++) seen.add({ team: `team-${team}` });
  seen.add({ team: "team-0" });
  flush();
  const counts = read(keeper, "weir_plugin_my_plugin_x_seen_total");
  expect(counts).toHaveLength(101);
  const by = new Map(counts.map(({ labels, value }) => [labels["team"], value]));
  expect([by.get("team-0"), by.get("team-99"), by.get("other")]).toEqual([2, 1, 150]);
  expect(faults).toEqual([
    "plugin my-plugin.x: weir_plugin_my_plugin_x_seen_total has more than 100 combinations of labels; weir counts the others under other.",
  ]);
});

test("a count that makes no sense is left out, with its reason", () => {
  const reasons: [count: (of: ReturnType<typeof makePlugin>) => void, reason: string][] = [
    [({ seen }) => seen.add({ team: "red" }, -1), "the amount must be a number that is not negative"],
    [({ seen }) => seen.add({ team: "red" }, Number.NaN), "the amount must be a number that is not negative"],
    [({ sizes }) => sizes.observe({}, Number.POSITIVE_INFINITY), "the value must be a number"],
    // @ts-expect-error a label is missing
    [({ seen }) => seen.add({}), "the label team must be a text"],
    // @ts-expect-error a plugin in JavaScript has no types
    [({ seen }) => seen.add(), "the label team must be a text"],
    // @ts-expect-error not a label of the metric
    [({ seen }) => seen.add({ team: "red", why: "" }), "the label why is not declared"],
  ];
  for (const [count, reason] of reasons) {
    const keeper = newKeeper();
    const made = makePlugin();
    const { faults, flush } = workerOf(keeper, made.plugin);
    count(made);
    flush();
    expect(faults).toEqual([expect.stringContaining(`was not counted: ${reason}.`)]);
    expect(read(keeper, "weir_plugin_my_plugin_x_seen_total")).toEqual([]);
  }
});

test("a metric that Prometheus would not read is refused", () => {
  const fault = (options: Partial<Parameters<typeof defineHistogram<string>>[0]>) => {
    const metric = defineHistogram<string>({ name: "a", help: "b", buckets: [1], ...options });
    return () => metricsOf({ name: "p", metrics: [metric] });
  };
  expect(fault({ help: "" })).toThrow("its metric a has no help");
  expect(fault({ labels: ["le"] })).toThrow("none is le");
  expect(fault({ labels: ["a", "a"] })).toThrow("different names");
  expect(fault({ labels: ["a-b"] })).toThrow("letters, digits and underscores");
  expect(fault({ labels: ["a", "b", "c", "d", "e", "f", "g"] })).toThrow("at most 6 labels");
  expect(fault({ buckets: [2, 1] })).toThrow("must have buckets that ascend");
  expect(fault({ buckets: [] })).toThrow("must have 1 to 30 buckets");
  expect(fault({ labels: ["team"] })()).toHaveLength(1);
});

test("the example of the guide counts calls, also after a reload", async () => {
  const guide = await Bun.file(resolve(import.meta.dir, "../../plugins/README.md")).text();
  const examples = [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!);
  const watch = examples.find((code) => code.includes('name: "watch"'))!;
  const folder = await makeFolder({ plugins: { "watch.ts": watch } });
  const load = () => loadConfig({ flags: { "--port": "0" }, env: {}, cwd: folder });
  const { config } = load();
  const weir = await startWeir({
    config,
    env: {},
    write: () => {},
    adminCredential: "credential-of-the-run",
  });
  try {
    await weir.books();
    const { admin } = weir;
    if (!admin || !("url" in admin)) throw new Error("the admin API is off");
    const headers = { authorization: "Bearer credential-of-the-run" };
    const samples = async (name: string) =>
      parsePrometheus(await (await fetch(`${admin.url}/metrics`, { headers })).text()).get(
        `weir_plugin_watch_${name}`,
      )?.samples ?? [];
    const counted = (outcome: string, value: number) =>
      until(async () =>
        (await samples("finished_total")).some(
          (one) => one.labels["outcome"] === outcome && one.value === value,
        ),
      );
    await ask(weir.url, "mock/echo");
    await ask(weir.url, "mock/error-500");
    expect(await counted("complete", 1)).toBe(true);
    expect(await counted("failed", 1)).toBe(true);
    await weir.reload({ ...load(), env: {} });
    await ask(weir.url, "mock/echo");
    expect(await counted("complete", 2)).toBe(true);
    const count = (await samples("seconds")).find(({ name }) => name.endsWith("_count"));
    expect(count?.value).toBe(3);
  } finally {
    await weir.stop();
    await rm(folder, { recursive: true });
  }
}, 60_000);
