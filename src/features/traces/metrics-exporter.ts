/** Sends the metrics of the GenAI conventions to a collector, once a minute. */
import type { CallRecord } from "../../ledger/record.ts";
import { compressAside } from "./exporter.ts";
import { Measures } from "./measures.ts";
import type { Attributes } from "./otlp.ts";
import type { WallClock } from "../../core/wall-clock.ts";
import { placeOf, type Post, post } from "../../http/post.ts";

const EXPORT_MS = 60_000;

export interface MetricsExporterOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
  resource: Attributes;
  version: string;
  clock: WallClock;
  /** Writes a sentence to the log. */
  report(text: string): void;
  post?: Post;
  /** Default: gzip in another thread. */
  compress?(text: string): Uint8Array | Promise<Uint8Array>;
}

export class MetricsExporter {
  readonly #options: MetricsExporterOptions;
  readonly #measures: Measures;
  #cancel: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: MetricsExporterOptions) {
    this.#options = options;
    this.#measures = new Measures(options.clock.wall());
    this.#schedule();
  }

  add(calls: readonly CallRecord[]): void {
    for (const call of calls) this.#measures.add(call);
  }

  /** Sends the last figures. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#sending;
    await this.#send();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#options.clock.after(EXPORT_MS, () => {
      this.#sending = this.#send().finally(() => this.#schedule());
    });
  }

  async #send(): Promise<void> {
    if (this.#measures.isEmpty) return;
    const { url, headers, resource, version, clock, report, compress = compressAside } = this.#options;
    const text = this.#measures.text(resource, { name: "weir", version }, clock.wall());
    const body = new Uint8Array(await compress(text));
    const sent = await (this.#options.post ?? post)(
      url,
      {
        "user-agent": `weir/${version}`,
        ...headers,
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      body,
    );
    const fails = sent.kind !== "ok";
    if (fails && !this.#isFailing)
      report(`the collector at ${placeOf(url)} takes no metrics: ${sent.why}; weir tries again every minute`);
    this.#isFailing = fails;
  }
}
