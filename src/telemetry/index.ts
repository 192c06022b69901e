/** Traces and alerts of a gateway, made in the keeper from the records of its workers. */
import { hostname } from "node:os";
import type { BookSettings, WorkerState } from "../ledger/messages.ts";
import type { CallRecord } from "../ledger/record.ts";
import type { TraceSettings } from "../ledger/telemetry.ts";
import { VERSION } from "../process/version.ts";
import { Alerts, type ReachedBudget } from "./alerts.ts";
import { SPAN_RESULTS, SpanExporter, type SpanResult } from "./exporter.ts";
import { MetricsExporter } from "./metrics-exporter.ts";
import type { Attributes } from "./otlp.ts";
import type { WallClock } from "../core/wall-clock.ts";
import { spansOf } from "./spans.ts";
import { ALERT_RESULTS, type AlertResult, Webhooks } from "./webhooks.ts";

export interface TelemetryOptions {
  clock: WallClock;
  /** Writes a sentence to the log. */
  report(text: string): void;
  countSpans(result: SpanResult, spans: number): void;
  countAlert(result: AlertResult, alerts: number): void;
  /** Name of a key by its id. */
  keyName(id: string): string;
}

/** Time for work that must end before the process does. Milliseconds. */
const CLOSE_MS = 2_000;

export class Telemetry {
  readonly #options: TelemetryOptions;
  readonly #alerts: Alerts;
  readonly #webhooks: Webhooks;
  /** Names this run of the keeper. */
  readonly #instance = crypto.randomUUID();
  #traces: TraceSettings | undefined;
  #exporter: SpanExporter | undefined;
  #metrics: MetricsExporter | undefined;
  #text = "";

  constructor(options: TelemetryOptions) {
    this.#options = options;
    const { clock, report, countAlert } = options;
    const sender = { host: hostname(), version: VERSION };
    this.#webhooks = new Webhooks({ sender, clock, report, count: (result) => countAlert(result, 1) });
    this.#alerts = new Alerts(clock, (alert, target) => this.#webhooks.send(alert, target));
  }

  /** The config of the workers, after each start and reload; all workers send the same. */
  settings({ traces, alerts = [] }: Pick<BookSettings, "traces" | "alerts">): void {
    const text = JSON.stringify([traces, alerts]);
    if (text === this.#text) return;
    this.#text = text;
    this.#alerts.targets = alerts;
    this.#traces = traces;
    void this.#exporter?.close();
    void this.#metrics?.close();
    const { countSpans, countAlert } = this.#options;
    // Series begin at zero: a rule on an increase would miss the first one.
    if (traces) for (const result of SPAN_RESULTS) countSpans(result, 0);
    if (alerts.length > 0) for (const result of ALERT_RESULTS) countAlert(result, 0);
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
    this.#alerts.records(calls);
    const { keyName } = this.#options;
    this.#metrics?.add(calls);
    if (!this.#exporter || !this.#traces) return;
    const { share, parent } = this.#traces;
    for (const call of calls) {
      const spans = spansOf(call, { share, parent, keyName });
      if (spans.length > 0) this.#exporter.add(spans);
    }
  }

  budget(reached: ReachedBudget): void {
    this.#alerts.budget(reached);
  }

  store(fault: string | undefined): void {
    this.#alerts.store(fault);
  }

  state(worker: number, { breakers }: WorkerState): void {
    this.#alerts.breakers(worker, breakers);
  }

  /** Sends what waits, as far as the receivers take it in time. */
  async close(): Promise<void> {
    this.#alerts.close();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(CLOSE_MS, resolve);
    await Promise.race([
      Promise.all([this.#exporter?.close(), this.#metrics?.close(), this.#webhooks.close()]),
      late,
    ]);
    cancel();
  }
}
