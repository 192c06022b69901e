/** Counts observations by their labels, within a limit of series, and writes them as Prometheus text. */
import { bucketOf, type Counted, type Family, OTHER } from "../../core/metric.ts";
import { TOTALS } from "./families.ts";

interface Series {
  /** `{format="x",model="y"}` without the braces; empty without labels. */
  labels: string;
  /** Value of a counter; sum of a histogram. */
  value: number;
  /** Observations by bucket, not cumulative; the last one is above all bounds. */
  counts?: Float64Array;
}

/** The series of a family by the values of their labels, one level for each label. */
interface Branch {
  next: Map<string, Branch>;
  series?: Series;
}

/** A value of the moment. */
export interface Gauge {
  family: Family;
  labels: readonly string[];
  value: number;
}

/** Labels that may have many values, and are replaced first. */
const OPEN = new Set(["model", "key", "code", "deployment", "budget"]);
/** Shares of the limit at which first the open labels are replaced, then all. */
const FOLD_OPEN = 0.8;
const FOLD_ALL = 0.9;

/** Lines that one series has in the text. */
const linesOf = ({ buckets }: Family) => (buckets ? buckets.length + 3 : 1);

export class Registry {
  readonly #families = new Map<Family, { root: Branch; all: Series[] }>();
  /** The metrics of workers, by name. */
  readonly #merged = new Map<string, Family>();
  readonly #maxLines: number;
  #lines = 0;

  /** @param maxSeries most lines of text; Prometheus makes a series of each */
  constructor(maxSeries: number) {
    this.#maxLines = maxSeries;
    // A counter without labels exists from the beginning: an alert on its increase would miss the first one.
    for (const family of Object.values(TOTALS)) if (family.labels.length === 0) this.#find(family, []);
  }

  /** Number of lines of all counters and histograms. */
  get size(): number {
    return this.#lines;
  }

  /** @param amount in the unit of the family, times its scale */
  add(family: Family, labels: readonly string[], amount = 1): void {
    this.#find(family, labels).value += amount;
  }

  observe(family: Family, labels: readonly string[], value: number): void {
    const series = this.#find(family, labels);
    series.value += value;
    series.counts![bucketOf(family.buckets!, value)]!++;
  }

  /** Adds what a worker has counted. A metric that is declared anew with other labels or buckets begins at 0. */
  merge({ metric, series }: Counted): void {
    const family = this.#ownOf(metric);
    for (const { labels, value, counts } of series) {
      const found = this.#find(family, labels);
      found.value += value;
      counts?.forEach((count, bucket) => void (found.counts![bucket]! += count));
    }
  }

  #ownOf(metric: Family): Family {
    const known = this.#merged.get(metric.name);
    if (known && Bun.deepEquals(known, metric)) return known;
    if (known) {
      this.#lines -= linesOf(known) * (this.#families.get(known)?.all.length ?? 0);
      this.#families.delete(known);
    }
    this.#merged.set(metric.name, metric);
    return metric;
  }

  /** @param gauges are written after the counters, grouped by family */
  text(gauges: readonly Gauge[]): string {
    const parts: string[] = [];
    for (const [family, { all }] of this.#families) {
      if (all.length === 0) continue;
      parts.push(headOf(family));
      for (const series of all) writeSeries(parts, family, series);
    }
    const byFamily = Map.groupBy(gauges, ({ family }) => family);
    for (const [family, values] of byFamily) {
      parts.push(headOf(family));
      for (const { labels, value } of values) writeLine(parts, family.name, labelText(family, labels), value);
    }
    return parts.join("");
  }

  #find(family: Family, labels: readonly string[]): Series {
    let found = this.#families.get(family);
    if (!found) this.#families.set(family, (found = { root: { next: new Map() }, all: [] }));
    const { root, all } = found;
    const known = seriesAt(root, labels);
    if (known) return known;
    const kept = this.#folded(family, labels);
    if (kept !== labels) {
      this.add(TOTALS.folded, []);
      const other = seriesAt(root, kept);
      if (other) return other;
    }
    const series: Series = { labels: labelText(family, kept), value: 0 };
    if (family.buckets) series.counts = new Float64Array(family.buckets.length + 1);
    all.push(series);
    branchAt(root, kept).series = series;
    this.#lines += linesOf(family);
    return series;
  }

  /** The labels of the series that a new one becomes part of; the same labels if there is room. */
  #folded(family: Family, labels: readonly string[]): readonly string[] {
    const used = (this.#lines + linesOf(family)) / this.#maxLines;
    if (used <= FOLD_OPEN || labels.length === 0) return labels;
    if (used > FOLD_ALL) return labels.map(() => OTHER);
    const open = labels.map((value, index) => (OPEN.has(family.labels[index]!) ? OTHER : value));
    return open.every((value, index) => value === labels[index]) ? labels : open;
  }
}

function seriesAt(root: Branch, labels: readonly string[]): Series | undefined {
  let branch: Branch | undefined = root;
  for (let at = 0; branch && at < labels.length; at++) branch = branch.next.get(labels[at]!);
  return branch?.series;
}

function branchAt(root: Branch, labels: readonly string[]): Branch {
  let branch = root;
  for (const value of labels) {
    let next = branch.next.get(value);
    if (!next) branch.next.set(value, (next = { next: new Map() }));
    branch = next;
  }
  return branch;
}

function headOf({ name, help, type }: Family): string {
  return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", " ")}\n# TYPE ${name} ${type}\n`;
}

function writeSeries(parts: string[], { name, buckets, scale = 1 }: Family, series: Series): void {
  const { labels, value, counts } = series;
  if (!buckets || !counts) return writeLine(parts, name, labels, value / scale);
  const before = labels === "" ? "" : `${labels},`;
  let total = 0;
  for (let index = 0; index < buckets.length; index++) {
    total += counts[index]!;
    writeLine(parts, `${name}_bucket`, `${before}le="${buckets[index]}"`, total);
  }
  total += counts[buckets.length]!;
  writeLine(parts, `${name}_bucket`, `${before}le="+Inf"`, total);
  writeLine(parts, `${name}_sum`, labels, value / scale);
  writeLine(parts, `${name}_count`, labels, total);
}

function writeLine(parts: string[], name: string, labels: string, value: number): void {
  parts.push(labels === "" ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`);
}

/** Longest value of a label. Characters. */
const MAX_VALUE = 128;

function labelText({ labels }: Family, values: readonly string[]): string {
  return labels.map((name, index) => `${name}="${escape(values[index] ?? "")}"`).join(",");
}

function escape(value: string): string {
  const short = value.length > MAX_VALUE ? value.slice(0, MAX_VALUE) : value;
  return short.toWellFormed().replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
