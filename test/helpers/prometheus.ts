/** A strict parser of Prometheus' text format 0.0.4: what it accepts, every scraper accepts. */

export interface Sample {
  /** With the suffix of a histogram: `weir_call_seconds_bucket`. */
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

export interface ParsedFamily {
  name: string;
  type: string;
  help: string;
  samples: Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|\+Inf|NaN)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)/;

/** @throws Error that names the line */
export function parsePrometheus(text: string): Map<string, ParsedFamily> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, ParsedFamily>();
  const seen = new Set<string>();
  let help: string | undefined;
  let current: ParsedFamily | undefined;
  text
    .slice(0, -1)
    .split("\n")
    .forEach((line, index) => {
      const fail = (why: string): never => {
        throw new Error(`line ${index + 1}: ${why}: ${line}`);
      };
      const [, word, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
      if (word === "HELP") {
        if (families.has(name)) fail("the family is not in one piece");
        help = rest;
        return;
      }
      if (word === "TYPE") {
        if (!NAME.test(name) || help === undefined || !/^(counter|gauge|histogram)$/.test(rest))
          fail("bad head");
        current = { name, type: rest, help: help!, samples: [] };
        families.set(name, current);
        help = undefined;
        return;
      }
      const [, sample = fail("no sample"), labelText = "", value = ""] = LINE.exec(line) ?? [];
      const suffix = sample.slice(current?.name.length);
      const allowed = current?.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      if (!current || !sample.startsWith(current.name) || !allowed.includes(suffix))
        fail("not of the family");
      const labels = labelsOf(labelText, fail);
      const series = `${sample}${JSON.stringify(Object.entries(labels).sort())}`;
      if (seen.has(series)) fail("the series is there twice");
      seen.add(series);
      current!.samples.push({ name: sample, labels, value: Number(value.replace("Inf", "Infinity")) });
    });
  for (const family of families.values()) check(family);
  return families;
}

function labelsOf(text: string, fail: (why: string) => never): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== "";) {
    const [all, name = "", value = ""] = LABEL.exec(rest) ?? fail("bad labels");
    if (name in labels) fail("a label is there twice");
    labels[name] = value.replaceAll(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
    rest = rest.slice(all.length);
  }
  return labels;
}

function check({ name, type, samples }: ParsedFamily): void {
  if (type === "counter" && samples.some(({ value }) => !(value >= 0)))
    throw new Error(`${name} is negative`);
  if (type === "counter" && !/_total$/.test(name)) throw new Error(`${name} is a counter without _total`);
  if (type !== "histogram") return;
  const series = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  for (const [labels, values] of series) {
    const buckets = values.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels: { le } }) => Number(le!.replace("Inf", "Infinity")));
    if (
      bounds.at(-1) !== Infinity ||
      bounds.some((bound, index) => bound <= (bounds[index - 1] ?? -Infinity))
    )
      throw new Error(`${name}${labels}: the buckets are not ascending up to +Inf`);
    if (buckets.some(({ value }, index) => value < (buckets[index - 1]?.value ?? 0)))
      throw new Error(`${name}${labels}: the buckets are not cumulative`);
    const count = values.find((sample) => sample.name === `${name}_count`);
    const sum = values.find((sample) => sample.name === `${name}_sum`);
    if (!sum || count?.value !== buckets.at(-1)!.value)
      throw new Error(`${name}${labels}: count or sum is wrong`);
  }
}

/** The value of one series; 0 if it is absent. */
export function valueOf(
  families: ReadonlyMap<string, ParsedFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const matching = [...families.values()].flatMap(({ samples }) =>
    samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    ),
  );
  return matching.reduce((sum, { value }) => sum + value, 0);
}
