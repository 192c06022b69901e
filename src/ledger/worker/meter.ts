/** Counts metrics in a process that serves calls, and sends the keeper what was counted since the last time. */
import {
  bucketOf,
  type Counted,
  type CountedSeries,
  type Meter,
  type Metric,
  OTHER,
} from "../../core/metric.ts";
import type { BooksChannel } from "../channel.ts";

/** Series that wait for the keeper. More are counted under `other`. */
const MOST_SERIES = 2_000;

interface Waiting {
  labels: readonly string[];
  value: number;
  counts?: number[];
}

export class WorkerMeter implements Meter {
  readonly #channel: Pick<BooksChannel, "isUp" | "send">;
  readonly #declared = new Map<string, Metric>();
  /** By the metric, then by the values of its labels. A reload may declare a name with other labels while the keeper is away. */
  #waiting = new Map<Metric, Map<string, Waiting>>();
  #size = 0;

  constructor(channel: Pick<BooksChannel, "isUp" | "send">) {
    this.#channel = channel;
  }

  /** A counter without labels is at 0 from now on: an alert on its increase would miss the first one. */
  declare(metrics: readonly Metric[]): void {
    for (const metric of metrics) {
      this.#declared.set(metric.name, metric);
      if (metric.labels.length === 0) this.#find(metric, []);
    }
  }

  /** A keeper is reached for the first time, or a new one after it ended. */
  declareAgain(): void {
    this.declare([...this.#declared.values()]);
  }

  add(metric: Metric, labels: readonly string[] = [], amount = 1): void {
    this.#find(metric, labels).value += amount;
  }

  observe(metric: Metric, labels: readonly string[], value: number): void {
    const found = this.#find(metric, labels);
    const { buckets = [] } = metric;
    found.value += value;
    found.counts ??= new Array<number>(buckets.length + 1).fill(0);
    found.counts[bucketOf(buckets, value)]!++;
  }

  /** Sends what was counted. Without a keeper it waits. */
  flush(): void {
    if (this.#waiting.size === 0 || !this.#channel.isUp) return;
    const counted: Counted[] = [...this.#waiting].map(([metric, series]) => ({
      metric,
      series: [...series.values()] satisfies CountedSeries[],
    }));
    this.#waiting = new Map();
    this.#size = 0;
    this.#channel.send({ kind: "counted", counted });
  }

  #find(metric: Metric, labels: readonly string[]): Waiting {
    let series = this.#waiting.get(metric);
    if (!series) this.#waiting.set(metric, (series = new Map()));
    const kept = this.#size < MOST_SERIES ? labels : labels.map(() => OTHER);
    const key = keyOf(labels);
    const known = series.get(key) ?? (kept === labels ? undefined : series.get(keyOf(kept)));
    if (known) return known;
    const fresh: Waiting = { labels: kept, value: 0 };
    series.set(kept === labels ? key : keyOf(kept), fresh);
    this.#size++;
    return fresh;
  }
}

/** No value of a label has the separator. */
function keyOf(labels: readonly string[]): string {
  return labels.join("\0");
}
