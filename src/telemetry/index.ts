/** Traces of a gateway, made in the keeper from the records of its workers. */
import { hostname } from "node:os";
import type { BookSettings } from "../ledger/messages.ts";
import type { CallRecord } from "../ledger/record.ts";
import type { TraceSettings } from "../ledger/telemetry.ts";
import { VERSION } from "../process/version.ts";
import { SPAN_RESULTS, SpanExporter, type SpanResult } from "./exporter.ts";
import { MetricsExporter } from "./metrics-exporter.ts";
import type { Attributes } from "./otlp.ts";
import type { WallClock } from "../core/wall-clock.ts";
import { spansOf } from "./spans.ts";

export interface TelemetryOptions {
  clock: WallClock;
  /** Writes a sentence to the log. */
  report(text: string): void;
  countSpans(result: SpanResult, spans: number): void;
  /** Name of a key by its id. */
  keyName(id: string): string;
}

/** Time for work that must end before the process does. Milliseconds. */
const CLOSE_MS = 2_000;

export class Telemetry {
  readonly #options: TelemetryOptions;
  /** Names this run of the keeper. */
  readonly #instance = crypto.randomUUID();
  #traces: TraceSettings | undefined;
  #exporter: SpanExporter | undefined;
  #metrics: MetricsExporter | undefined;
  #text = "";

  constructor(options: TelemetryOptions) {
    this.#options = options;
  }

  /** The config of the workers, after each start and reload; all workers send the same. */
  settings({ traces }: Pick<BookSettings, "traces">): void {
    const text = JSON.stringify(traces) ?? "";
    if (text === this.#text) return;
    this.#text = text;
    this.#traces = traces;
    void this.#exporter?.close();
    void this.#metrics?.close();
    const { countSpans } = this.#options;
    // Series begin at zero: a rule on an increase would miss the first one.
    if (traces) for (const result of SPAN_RESULTS) countSpans(result, 0);
    this.#open(traces);
  }

  #open(traces: TraceSettings | undefined): void {
    this.#exporter = this.#metrics = undefined;
    if (!traces) return;
    const { clock, report, countSpans } = this.#options;
    const resource: Attributes = [
      ["service.name", traces.service],
      ["service.version", VERSION],
      ["service.instance.id", this.#instance],
      ["host.name", hostname()],
    ];
    const shared = { resource, version: VERSION, clock, report };
    this.#exporter = new SpanExporter({ settings: traces, ...shared, count: countSpans });
    const { metricsUrl: url, headers } = traces;
    if (url !== undefined) this.#metrics = new MetricsExporter({ url, headers, ...shared });
  }

  records(calls: readonly CallRecord[]): void {
    const { keyName } = this.#options;
    this.#metrics?.add(calls);
    if (!this.#exporter || !this.#traces) return;
    const { share, parent } = this.#traces;
    for (const call of calls) {
      const spans = spansOf(call, { share, parent, keyName });
      if (spans.length > 0) this.#exporter.add(spans);
    }
  }

  /** Sends what waits, as far as the receivers take it in time. */
  async close(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(CLOSE_MS, resolve);
    await Promise.race([Promise.all([this.#exporter?.close(), this.#metrics?.close()]), late]);
    cancel();
  }
}
