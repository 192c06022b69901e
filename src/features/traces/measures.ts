/** The metrics of the GenAI conventions, counted for each attempt: histograms that only grow while the keeper lives. */
import type { AttemptRecord, CallRecord } from "../../ledger/record.ts";
import { type AttemptFacts, traceFacts } from "./columns.ts";
import { GENAI, METRICS, providerName } from "./conventions.ts";
import { type Attributes, type DataPoint, encodeMetrics, type Metric, type Scope } from "./otlp-metrics.ts";
import { errorTypeOf } from "./spans.ts";

/** Further series are counted in one without attributes. */
const MAX_SERIES = 2_000;
const OVERFLOW: Attributes = [["otel.metric.overflow", true]];
/** The model of a failed attempt, if it has never answered: clients can make up names. */
const OTHER_MODEL = "other";

const OVERFLOW_KEY = "";

type Name = keyof typeof METRICS;
type Attribute = Attributes[number];

/** Labels that the series of an attempt share. A deployment has one address. */
interface Target {
  key: string;
  operation: string;
  provider: string;
  model: string;
  facts: AttemptFacts | undefined;
}

export class Measures {
  /** Milliseconds since 1970. */
  readonly #startedAt: number;
  readonly #series = new Map<Name, Map<string, DataPoint>>();
  readonly #answered = new Set<string>();
  #count = 0;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** Nothing has been counted. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  add(call: CallRecord): void {
    const made = traceFacts.in(call);
    const operation = made?.route?.operation ?? "chat";
    call.attempts.forEach((attempt, index) => {
      const facts = made?.attempts[index];
      const target = this.#targetOf(attempt, facts, operation);
      const { input, cacheRead, cacheWrite, output } = attempt.usage;
      const prompt = input + cacheRead + cacheWrite;
      if (prompt > 0) this.#observe("tokens", target, prompt, [GENAI.tokenType, "input"]);
      if (output > 0) this.#observe("tokens", target, output, [GENAI.tokenType, "output"]);
      const error = errorTypeOf(attempt, facts);
      this.#observe(
        "duration",
        target,
        attempt.ms / 1000,
        error === undefined ? error : ["error.type", error],
      );
      if (!call.stream || error !== undefined || facts?.firstAt === undefined) return;
      this.#observe("firstChunk", target, (facts.firstAt - facts.at) / 1000);
    });
  }

  /** @param now milliseconds since 1970 @returns JSON of an `ExportMetricsServiceRequest` */
  text(resource: Attributes, scope: Scope, now: number): string {
    const metrics = [...this.#series].map(([name, points]): Metric => ({
      ...METRICS[name],
      points: [...points.values()],
    }));
    return encodeMetrics(resource, scope, metrics, { start: this.#startedAt, now });
  }

  #targetOf(
    { provider, deployment, model, class: ended }: AttemptRecord,
    facts: AttemptFacts | undefined,
    operation: string,
  ): Target {
    const name = `${deployment} ${model}`;
    if (ended === "answered" && this.#answered.size < MAX_SERIES) this.#answered.add(name);
    const known = this.#answered.has(name) ? model : OTHER_MODEL;
    return { key: `${operation} ${deployment} ${known}`, operation, provider, model: known, facts };
  }

  #observe(name: Name, target: Target, value: number, extra?: Attribute): void {
    const point = this.#point(name, target, extra);
    const { bounds } = METRICS[name];
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
    point.buckets[bucket]!++;
    point.count++;
    point.sum += value;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
  }

  #point(name: Name, target: Target, extra?: Attribute): DataPoint {
    let points = this.#series.get(name);
    if (!points) this.#series.set(name, (points = new Map()));
    const key = extra === undefined ? target.key : `${target.key} ${String(extra[1])}`;
    const known = points.get(key);
    if (known) return known;
    if (this.#count < MAX_SERIES) return this.#begin(points, key, name, attributesOf(target, extra));
    return points.get(OVERFLOW_KEY) ?? this.#begin(points, OVERFLOW_KEY, name, OVERFLOW);
  }

  #begin(points: Map<string, DataPoint>, key: string, name: Name, attributes: Attributes): DataPoint {
    const buckets = Array.from({ length: METRICS[name].bounds.length + 1 }, () => 0);
    const point: DataPoint = { attributes, buckets, count: 0, sum: 0, min: Infinity, max: 0 };
    points.set(key, point);
    this.#count++;
    return point;
  }
}

function attributesOf({ operation, provider, model, facts }: Target, extra?: Attribute): Attributes {
  return [
    [GENAI.operation, operation],
    [GENAI.provider, providerName(provider)],
    [GENAI.requestModel, model],
    ["server.address", facts?.host],
    ["server.port", facts?.port],
    ...(extra ? [extra] : []),
  ];
}
