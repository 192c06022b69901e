/**
 * The columns and metrics that loaded plugins list, and what counts the metrics. It is no part of the public interface: what a
 * plugin sets or counts without listing it would be lost.
 */

/** @param labels values by the name of the label */
export type MetricSink = (labels: Readonly<Record<string, string>>, value: number) => void;

const sinks = new WeakMap<object, MetricSink>();

/** Connects a metric of a plugin, in place of what it was connected with. */
export function connectMetric(metric: object, sink: MetricSink): void {
  sinks.set(metric, sink);
}

/** Lets a metric be counted, for nothing, before it is connected: commands load plugins without a gateway. */
export function knowMetric(metric: object): void {
  if (!sinks.has(metric)) sinks.set(metric, () => {});
}

/** @throws Error for a metric that no loaded plugin lists: its counts would be lost */
export function sinkOf(metric: { readonly name: string }): MetricSink {
  const sink = sinks.get(metric);
  if (sink) return sink;
  throw new Error(`the metric ${metric.name} is not in metrics of a plugin that weir has loaded`);
}

const columns = new WeakSet();

/** A loaded plugin lists the column. */
export function listColumn(column: object): void {
  columns.add(column);
}

/** @throws Error for a column that no loaded plugin lists: its values would be lost */
export function assertListed(column: { readonly name: string }): void {
  if (!columns.has(column))
    throw new Error(`the column ${column.name} is not in columns of a plugin that weir has loaded`);
}
