/** The spans and metrics of a gateway, made in the keeper from the records of its workers, on their way to the collector. */
import { hostname } from "node:os";
import { WALL_CLOCK } from "../../core/wall-clock.ts";
import { endsWithin } from "../../core/within.ts";
import type { KeeperHost } from "../../keeper/seams.ts";
import type { CallRecord } from "../../ledger/record.ts";
import { VERSION } from "../../process/version.ts";
import { SPAN_RESULTS, SpanExporter, type SpanResult } from "./exporter.ts";
import { spansTotal } from "./metrics.ts";
import { MetricsExporter } from "./metrics-exporter.ts";
import type { Attributes } from "./otlp.ts";
import type { TraceSettings } from "./section.ts";
import { spansOf } from "./spans.ts";

/** Time for work that must end before the process does. Milliseconds. */
const CLOSE_MS = 2_000;

export class Sending {
  readonly #host: Pick<KeeperHost, "count" | "keyName" | "report">;
  /** Names this run of the keeper. */
  readonly #instance = crypto.randomUUID();
  #traces: TraceSettings | undefined;
  #exporter: SpanExporter | undefined;
  #metrics: MetricsExporter | undefined;
  #text = "";

  constructor(host: Pick<KeeperHost, "count" | "keyName" | "report">) {
    this.#host = host;
  }

  /** The config of the workers, after each start and reload; all workers say the same. */
  to(traces: TraceSettings | undefined): void {
    const text = JSON.stringify(traces) ?? "";
    if (text === this.#text) return;
    this.#text = text;
    this.#traces = traces;
    void this.#exporter?.close();
    void this.#metrics?.close();
    // Series begin at zero: a rule on an increase would miss the first one.
    if (traces) for (const result of SPAN_RESULTS) this.#count(result, 0);
    this.#open(traces);
  }

  #open(traces: TraceSettings | undefined): void {
    this.#exporter = this.#metrics = undefined;
    if (!traces) return;
    const { report } = this.#host;
    const resource: Attributes = [
      ["service.name", traces.service],
      ["service.version", VERSION],
      ["service.instance.id", this.#instance],
      ["host.name", hostname()],
    ];
    const shared = { resource, version: VERSION, clock: WALL_CLOCK, report };
    this.#exporter = new SpanExporter({
      settings: traces,
      ...shared,
      count: (result, spans) => this.#count(result, spans),
    });
    const { metricsUrl: url, headers } = traces;
    if (url !== undefined) this.#metrics = new MetricsExporter({ url, headers, ...shared });
  }

  #count(result: SpanResult, spans: number): void {
    this.#host.count(spansTotal, [result], spans);
  }

  records(calls: readonly CallRecord[]): void {
    const { keyName } = this.#host;
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
    await endsWithin(Promise.all([this.#exporter?.close(), this.#metrics?.close()]), CLOSE_MS);
  }
}
