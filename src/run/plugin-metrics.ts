/** The metrics of plugins, as weir counts them: with names of their own, and a bounded number of series. */
import { type Meter, type Metric, OTHER } from "../core/metric.ts";
import type { Plugin } from "../core/plugin.ts";
import type { PluginMetric } from "../core/plugin-metric.ts";
import { connectMetric, type MetricSink } from "../core/plugin-listed.ts";
import { limitText, printable } from "../core/printable.ts";
import type { LoadedPlugin } from "../gateway/routing/registry.ts";
import { Seldom } from "./seldom.ts";

/** Most series of a metric in one process; what would be more is counted under `other`. */
const MOST_SERIES = 100;
const MOST_LABELS = 6;
const MOST_BUCKETS = 30;
/** Longest value of a label. Bytes of UTF-8. */
const MAX_LABEL_BYTES = 128;

/** The metrics of a plugin. @throws Error with a clause for a declaration that Prometheus would not read */
export function metricsOf({
  name: plugin,
  metrics = [],
}: Plugin): readonly (readonly [PluginMetric, Metric])[] {
  return metrics.map((metric) => {
    const { labels, buckets, help } = metric;
    const name = `weir_plugin_${plugin.replaceAll(/[^A-Za-z0-9_]/g, "_")}_${metric.name}`;
    const fault = faultOf(metric);
    if (fault !== undefined) throw new Error(`its metric ${metric.name} ${fault}`);
    const common = { name, help: limitText(printable(help), 256), labels: [...labels] };
    return [
      metric,
      buckets ? { ...common, type: "histogram", buckets: [...buckets] } : { ...common, type: "counter" },
    ] as const;
  });
}

function faultOf({ help, labels, buckets }: PluginMetric): string | undefined {
  if (typeof help !== "string" || help === "") return "has no help; write one sentence";
  if (!Array.isArray(labels) || labels.length > MOST_LABELS) return `must have at most ${MOST_LABELS} labels`;
  const isLabel = (label: unknown) => typeof label === "string" && /^[A-Za-z][A-Za-z0-9_]{0,31}$/.test(label);
  if (!labels.every(isLabel) || new Set(labels).size < labels.length || labels.includes("le"))
    return "must have labels with different names of letters, digits and underscores, and none is le";
  if (buckets === undefined) return undefined;
  if (!Array.isArray(buckets) || buckets.length === 0 || buckets.length > MOST_BUCKETS)
    return `must have 1 to ${MOST_BUCKETS} buckets`;
  const isAscending = buckets.every(
    (bound: unknown, at) =>
      Number.isFinite(bound) && (at === 0 || (bound as number) > Number(buckets[at - 1])),
  );
  return isAscending ? undefined : "must have buckets that ascend";
}

/** Connects the metrics of plugins with the meter of the process. */
export class PluginMeter {
  readonly #meter: Meter & { declare(metrics: readonly Metric[]): void; flush(): void };
  readonly #faults: Seldom;
  /** The series of each metric, which outlast a reload as the counts do. */
  readonly #series = new Map<string, Set<string>>();

  /** @param onFault gets a sentence about what was not counted as the plugin wanted, once a minute for each metric */
  constructor(
    meter: Meter & { declare(metrics: readonly Metric[]): void; flush(): void },
    onFault: (sentence: string) => void,
  ) {
    this.#meter = meter;
    this.#faults = new Seldom(onFault);
  }

  /** Counts the metrics of these plugins from now on. */
  connect(plugins: readonly LoadedPlugin[]): void {
    // A reload may change the labels of a metric that waits for the keeper.
    this.#meter.flush();
    for (const { plugin } of plugins) {
      const metrics = metricsOf(plugin);
      this.#meter.declare(metrics.map(([, metric]) => metric));
      for (const [own, metric] of metrics) connectMetric(own, this.#sinkOf(plugin.name, metric));
    }
  }

  #sinkOf(plugin: string, metric: Metric): MetricSink {
    return (labels, value) => {
      const fault = countFault(metric, labels, value);
      if (fault !== undefined) {
        this.#faults.say(metric.name, `plugin ${plugin}: ${metric.name} was not counted: ${fault}`);
        return;
      }
      const values = this.#bounded(plugin, metric, labels);
      if (metric.type === "counter") this.#meter.add(metric, values, value);
      else this.#meter.observe(metric, values, value);
    };
  }

  #bounded(plugin: string, metric: Metric, labels: Readonly<Record<string, string>>): readonly string[] {
    const values = metric.labels.map((name) => limitText(printable(labels[name]!), MAX_LABEL_BYTES));
    if (values.length === 0) return values;
    let series = this.#series.get(metric.name);
    if (!series) this.#series.set(metric.name, (series = new Set()));
    const key = JSON.stringify(values);
    if (series.has(key)) return values;
    if (series.size < MOST_SERIES) {
      series.add(key);
      return values;
    }
    this.#faults.say(
      `${metric.name} series`,
      `plugin ${plugin}: ${metric.name} has more than ${MOST_SERIES} combinations of labels; weir counts the others under ${OTHER}`,
    );
    return values.map(() => OTHER);
  }
}

/** Why a count is refused: plugins in JavaScript have no types. */
function countFault({ type, labels }: Metric, given: unknown, value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value) || (type === "counter" && value < 0))
    return type === "counter"
      ? "the amount must be a number that is not negative"
      : "the value must be a number";
  const values = (typeof given === "object" && given !== null ? given : {}) as Readonly<
    Record<string, unknown>
  >;
  const missing = labels.find((name) => typeof values[name] !== "string");
  if (missing !== undefined) return `the label ${missing} must be a text`;
  const unknown = Object.keys(values).find((name) => !labels.includes(name));
  return unknown === undefined ? undefined : `the label ${unknown.slice(0, 60)} is not declared`;
}
