/** Metrics of plugins: declared as data, counted in hooks. */
import { sinkOf } from "./plugin-listed.ts";

export interface PluginMetricOptions<Label extends string = string> {
  /** Letters, digits and underscores. Prometheus has it as `weir_plugin_PLUGIN_NAME`. */
  readonly name: string;
  /** One sentence for the reader of a dashboard. */
  readonly help: string;
  /** Names of the labels, at most 6. */
  readonly labels?: readonly Label[];
}

export interface PluginHistogramOptions<Label extends string = string> extends PluginMetricOptions<Label> {
  /** Upper bounds, ascending, at most 30. */
  readonly buckets: readonly number[];
}

/** The value of each label. */
export type LabelValues<Label extends string> = [Label] extends [never]
  ? { readonly [name: string]: never }
  : { readonly [Name in Label]: string };

/** A metric of a plugin, which lists it in `metrics`. */
export abstract class PluginMetric {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  abstract readonly buckets: readonly number[] | undefined;

  constructor(name: string, help: string, labels: readonly string[]) {
    this.name = name;
    this.help = help;
    this.labels = labels;
  }
}

/** A number that grows. {@link defineCounter} makes one. */
export class PluginCounter<Label extends string = string> extends PluginMetric {
  readonly buckets: undefined;

  /** Adds to the number of these labels; by default 1. */
  add(labels: LabelValues<Label>, amount?: number): void {
    sinkOf(this)(labels, amount ?? 1);
  }
}

/** How many values are below each bound. {@link defineHistogram} makes one. */
export class PluginHistogram<Label extends string = string> extends PluginMetric {
  readonly buckets: readonly number[];

  constructor(name: string, help: string, labels: readonly string[], buckets: readonly number[]) {
    super(name, help, labels);
    this.buckets = buckets;
  }

  observe(labels: LabelValues<Label>, value: number): void {
    sinkOf(this)(labels, value);
  }
}
