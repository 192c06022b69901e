/**
 * Sends spans to a collector by OTLP over HTTP: in batches, one request at a time, repeated while the collector is away. What does
 * not fit into the queue is dropped and counted.
 */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { TraceSettings } from "./section.ts";
import { type Attributes, encodeRequest, encodeSpan, type Span } from "./otlp.ts";
import type { WallClock } from "../../core/wall-clock.ts";
import { placeOf, type Post, post } from "../../http/post.ts";

const BATCH_SPANS = 512;
const BATCH_MS = 5_000;
const MAX_SPANS = 20_000;
/** Of the texts that wait. Characters. */
const MAX_LENGTH = 32 * 1024 * 1024;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** Shortest time between two sentences in the log. Milliseconds. */
const AGAIN_MS = 60_000;
/** The port of OTLP over gRPC, which weir does not speak. */
const GRPC_PORT = "4317";

/** In another thread. */
export const compressAside = promisify(gzip);

export const SPAN_RESULTS = ["exported", "dropped", "refused"] as const;
export type SpanResult = (typeof SPAN_RESULTS)[number];

export interface ExporterOptions {
  settings: Pick<TraceSettings, "url" | "headers">;
  resource: Attributes;
  version: string;
  clock: WallClock;
  /** Writes a sentence to the log. */
  report(text: string): void;
  count(result: SpanResult, spans: number): void;
  post?: Post;
  /** Default: gzip in another thread. */
  compress?(text: string): Uint8Array | Promise<Uint8Array>;
}

export class SpanExporter {
  readonly #options: ExporterOptions;
  readonly #post: Post;
  #queue: string[] = [];
  #length = 0;
  #cancel: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #pause = RETRY_MS;
  /** The collector did not take the last batch: the next attempt waits for its time. */
  #isAway = false;
  #isClosed = false;
  #reportedAt = -Infinity;
  #dropped = 0;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#post = options.post ?? post;
  }

  /** Number of spans that wait. */
  get waiting(): number {
    return this.#queue.length;
  }

  add(spans: readonly Span[]): void {
    let dropped = 0;
    for (const span of spans) {
      if (this.#queue.length >= MAX_SPANS || this.#length >= MAX_LENGTH) {
        dropped++;
        continue;
      }
      const text = encodeSpan(span);
      this.#queue.push(text);
      this.#length += text.length;
    }
    if (dropped > 0) this.#drop(dropped);
    if (this.#isAway) return;
    if (this.#queue.length >= BATCH_SPANS) this.#start();
    else if (this.#queue.length > 0) this.#schedule(BATCH_MS);
  }

  /** Sends what waits, without waiting for a collector that is away. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#sending;
    while (this.#queue.length > 0 && (await this.#send()));
    if (this.#queue.length > 0) this.#drop(this.#queue.splice(0).length);
  }

  #schedule(ms: number): void {
    this.#cancel ??= this.#options.clock.after(ms, () => {
      this.#cancel = undefined;
      this.#start();
    });
  }

  #start(): void {
    if (this.#isClosed) return;
    this.#sending ??= this.#run().finally(() => {
      this.#sending = undefined;
    });
  }

  /** Sends whole batches, and the rest of the queue if it was time for it. */
  async #run(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    do {
      if (!(await this.#send())) return;
    } while (this.#queue.length >= BATCH_SPANS && !this.#isClosed);
    if (this.#queue.length > 0 && !this.#isClosed) this.#schedule(BATCH_MS);
  }

  /** @returns whether to go on */
  async #send(): Promise<boolean> {
    const { settings, resource, version, count, compress = compressAside } = this.#options;
    const batch = this.#queue.slice(0, BATCH_SPANS);
    const text = encodeRequest(resource, { name: "weir", version }, batch);
    const headers = {
      "user-agent": `weir/${version}`,
      ...settings.headers,
      "content-type": "application/json",
      "content-encoding": "gzip",
    };
    const result = await this.#post(settings.url, headers, new Uint8Array(await compress(text)));
    if (result.kind === "retry") {
      this.#isAway = true;
      this.#tell(`${result.why}; weir tries again`);
      // Spans that came meanwhile may have begun a shorter wait.
      this.#cancel?.();
      this.#cancel = undefined;
      if (!this.#isClosed) this.#schedule(Math.max(this.#pause, result.afterMs ?? 0));
      this.#pause = Math.min(LONGEST_RETRY_MS, this.#pause * 2);
      return false;
    }
    this.#queue.splice(0, batch.length);
    for (const span of batch) this.#length -= span.length;
    if (result.kind === "refused") {
      count("refused", batch.length);
      this.#tell(`${result.why}; the spans are lost`);
    } else {
      const rejected = Math.min(batch.length, rejectedIn(result.text));
      count("exported", batch.length - rejected);
      if (rejected > 0) {
        count("refused", rejected);
        this.#tell(`it rejects ${rejected} of ${batch.length} spans`);
      }
    }
    this.#isAway = false;
    this.#pause = RETRY_MS;
    return true;
  }

  #drop(spans: number): void {
    this.#dropped += spans;
    this.#options.count("dropped", spans);
    this.#tell("the queue is full");
  }

  #tell(why: string): void {
    const { clock, report, settings } = this.#options;
    const now = clock.wall();
    if (now - this.#reportedAt < AGAIN_MS) return;
    this.#reportedAt = now;
    const lost = this.#dropped > 0 ? ` (${this.#dropped} spans were dropped)` : "";
    this.#dropped = 0;
    const hint =
      URL.parse(settings.url)?.port === GRPC_PORT
        ? "; this is the port of gRPC, weir needs that of HTTP"
        : "";
    report(`the trace collector at ${placeOf(settings.url)} takes no spans: ${why}${lost}${hint}`);
  }
}

/** The collector may take a batch in part: https://opentelemetry.io/docs/specs/otlp/#partial-success-1 */
function rejectedIn(text: string): number {
  if (!text.includes("rejectedSpans")) return 0;
  try {
    const answer = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: unknown } };
    return Number(answer.partialSuccess?.rejectedSpans ?? 0) || 0;
  } catch {
    return 0;
  }
}
