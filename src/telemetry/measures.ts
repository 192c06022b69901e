/** The metrics of the GenAI conventions, counted for each attempt: histograms that only grow while the keeper lives. */
import type { AttemptRecord, CallRecord } from "../ledger/record.ts";
import type { AttemptFacts } from "../ledger/telemetry.ts";
import { GENAI, METRICS, providerName } from "./conventions.ts";
import { type Attributes, type DataPoint, encodeMetrics, type Metric, type Scope } from "./otlp-metrics.ts";
import { errorTypeOf } from "./spans.ts";

/** Further series are counted in one without attributes. */
const MAX_SERIES = 2_000;
const OVERFLOW: Attributes = [["otel.metric.overflow", true]];
/** The model of a failed attempt, if it has never answered: clients can make up names. */
const OTHER_MODEL = "other";

type Name = keyof typeof METRICS;

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
    call.attempts.forEach((attempt, index) => {
      const facts = call.trace?.attempts[index];
      const attributes = this.#attributesOf(attempt, facts, call.trace?.route?.operation ?? "chat");
      this.#tokens(attempt, attributes);
      const error = errorTypeOf(attempt, facts);
      this.#observe("duration", [...attributes, ["error.type", error]], attempt.ms / 1000);
      if (!call.stream || error !== undefined || facts?.firstAt === undefined) return;
      this.#observe("firstChunk", attributes, (facts.firstAt - facts.at) / 1000);
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

  #attributesOf(attempt: AttemptRecord, facts: AttemptFacts | undefined, operation: string): Attributes {
    const target = `${attempt.deployment} ${attempt.model}`;
    if (attempt.class === "answered" && this.#answered.size < MAX_SERIES) this.#answered.add(target);
    return [
      [GENAI.operation, operation],
      [GENAI.provider, providerName(attempt.provider)],
      [GENAI.requestModel, this.#answered.has(target) ? attempt.model : OTHER_MODEL],
      ["server.address", facts?.host],
      ["server.port", facts?.port],
    ];
  }

  #tokens({ usage }: AttemptRecord, attributes: Attributes): void {
    const input = usage.input + usage.cacheRead + usage.cacheWrite;
    if (input > 0) this.#observe("tokens", [...attributes, [GENAI.tokenType, "input"]], input);
    if (usage.output > 0) this.#observe("tokens", [...attributes, [GENAI.tokenType, "output"]], usage.output);
  }

  #observe(name: Name, attributes: Attributes, value: number): void {
    const point = this.#point(name, attributes);
    const { bounds } = METRICS[name];
    const above = bounds.findIndex((bound) => value <= bound);
    point.buckets[above === -1 ? bounds.length : above]!++;
    point.count++;
    point.sum += value;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
  }

  #point(name: Name, attributes: Attributes): DataPoint {
    let points = this.#series.get(name);
    if (!points) this.#series.set(name, (points = new Map()));
    const key = JSON.stringify(attributes);
    const known = points.get(key);
    if (known) return known;
    if (this.#count >= MAX_SERIES && attributes !== OVERFLOW) return this.#point(name, OVERFLOW);
    const buckets = Array.from({ length: METRICS[name].bounds.length + 1 }, () => 0);
    const point: DataPoint = { attributes, buckets, count: 0, sum: 0, min: Infinity, max: 0 };
    points.set(key, point);
    this.#count++;
    return point;
  }
}
