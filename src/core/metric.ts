/** Metrics as Prometheus sees them: declarations, and what a process has counted. */

export interface Family {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  labels: readonly string[];
  /** Upper bounds of a histogram, ascending, in the unit of the name. */
  buckets?: readonly number[];
  /** Values are kept as integers, this many to one of the unit of the name. */
  scale?: number;
}

/** A metric that several processes count and the keeper adds up. A gauge of several processes has no sum. */
export type Metric = Family & { type: "counter" | "histogram" };

/** Counts the calls of a process. */
export interface Meter {
  /** Adds to a counter. @param labels values in the order of the metric's labels */
  add(metric: Metric, labels?: readonly string[], amount?: number): void;
  /** Adds one observation to a histogram. */
  observe(metric: Metric, labels: readonly string[], value: number): void;
}

/** Counts of a metric in a process since its last message. */
export interface Counted {
  metric: Metric;
  series: readonly CountedSeries[];
}

export interface CountedSeries {
  labels: readonly string[];
  /** Of a counter; sum of a histogram. */
  value: number;
  /** Observations by bucket, not cumulative; the last one is above all bounds. */
  counts?: readonly number[];
}

/** The label of series that have none of their own, because there are too many. */
export const OTHER = "other";

export const counter = (name: string, labels: readonly string[], help: string, scale?: number) =>
  ({ name, type: "counter", help, labels, ...(scale !== undefined && { scale }) }) satisfies Metric;

export const gauge = (name: string, labels: readonly string[], help: string) =>
  ({ name, type: "gauge", help, labels }) satisfies Family;

/** @param buckets upper bounds, ascending, in the unit of the name */
export const histogram = (
  name: string,
  labels: readonly string[],
  buckets: readonly number[],
  help: string,
) => ({ name, type: "histogram", help, labels, buckets }) satisfies Metric;

/** Index of the bucket of a value; the number of bounds if it is above all. */
export function bucketOf(bounds: readonly number[], value: number): number {
  let bucket = 0;
  while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
  return bucket;
}
