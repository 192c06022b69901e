/** Histograms by OTLP in JSON. They are cumulative: an export that is lost is made up for by the next one. */
import { type Attributes, encodeAttributes, nanos, type Scope } from "./otlp.ts";

export type { Attributes, Scope } from "./otlp.ts";

const CUMULATIVE = 2;

/** One series of a histogram. */
export interface DataPoint {
  attributes: Attributes;
  /** One more than the metric has bounds. */
  buckets: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}

export interface Metric {
  name: string;
  unit: string;
  description: string;
  /** Upper bounds of the buckets, ascending. */
  bounds: readonly number[];
  points: readonly DataPoint[];
}

/** @param times milliseconds since 1970 @returns JSON of an `ExportMetricsServiceRequest` */
export function encodeMetrics(
  resource: Attributes,
  scope: Scope,
  metrics: readonly Metric[],
  times: { start: number; now: number },
): string {
  const shared = { startTimeUnixNano: nanos(times.start), timeUnixNano: nanos(times.now) };
  const encoded = metrics.map(({ name, unit, description, bounds, points }) => ({
    ...{ name, unit, description },
    histogram: {
      aggregationTemporality: CUMULATIVE,
      dataPoints: points.map(({ attributes, buckets, count, sum, min, max }) => ({
        attributes: encodeAttributes(attributes),
        ...shared,
        count: String(count),
        ...{ sum, min, max },
        bucketCounts: buckets.map(String),
        explicitBounds: bounds,
      })),
    },
  }));
  return JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: encodeAttributes(resource) },
        scopeMetrics: [{ scope, metrics: encoded }],
      },
    ],
  });
}
