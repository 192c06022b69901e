/**
 * One reader of the live stream. What it has not read yet is limited to a few events: calls are thinned, and of states only the
 * newest waits, so that a reader that sleeps costs as much as one that reads.
 */
import type { CallRecord } from "../ledger/record.ts";
import type { LiveEvents } from "../operator/live.ts";

/** Most calls of one event, and time between two events with calls, milliseconds. */
const MOST_CALLS = 8;
const EVENT_MS = 250;
const PULSE_MS = 1_000;
/** Rates are those of the last seconds. Milliseconds. */
const RATE_MS = 5_000;

const encoder = new TextEncoder();

export interface LiveSource {
  /** Calls as they end. @returns function that ends it */
  watch(receive: (calls: readonly CallRecord[]) => void): () => void;
  matches(call: CallRecord): boolean;
  /** The part of calls that is sent. */
  show(calls: readonly CallRecord[]): readonly CallRecord[];
  running(): LiveEvents["running"];
  /** Whether the reader may go on reading. */
  isAllowed(): boolean;
  /** The store cannot be written. */
  isFaulty(): boolean;
  now(): number;
}

export class LiveReader {
  readonly #source: LiveSource;
  /** Matching calls since the last event: the newest, and how many. */
  #calls: CallRecord[] = [];
  #matched = 0;
  #running: string | undefined;
  #lastRunning = "";
  #pulse: string | undefined;
  #skipped = 0;
  /** Matching and failed calls of the last seconds, with their times. */
  #counts: { at: number; calls: number; failed: number }[] = [];
  #callsAt = 0;
  #pulseAt = 0;
  #timer: Timer | undefined;
  #leave: (() => void) | undefined;
  #wake: (() => void) | undefined;

  constructor(source: LiveSource) {
    this.#source = source;
  }

  /** Server-sent events until the reader leaves. Nothing is made while the reader does not read. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: () => this.#begin(),
        pull: async (controller) => {
          if (this.#timer === undefined) return controller.close();
          let text = this.#next();
          while (text === undefined) {
            await new Promise<void>((resolve) => (this.#wake = resolve));
            if (this.#timer === undefined) return controller.close();
            text = this.#next();
          }
          controller.enqueue(encoder.encode(text));
        },
        cancel: () => this.#end(),
      },
      { highWaterMark: 0 },
    );
  }

  #begin(): void {
    this.#leave = this.#source.watch((calls) => this.#take(calls));
    this.#timer = setInterval(() => this.#tick(), EVENT_MS);
    this.#timer.unref();
    this.#tick();
  }

  #end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#leave?.();
    this.#wake?.();
  }

  #take(calls: readonly CallRecord[]): void {
    const matching = calls.filter((call) => this.#source.matches(call));
    if (matching.length === 0) return;
    this.#matched += matching.length;
    this.#calls = [...this.#calls, ...matching].slice(-MOST_CALLS);
    const failed = matching.filter(({ outcome }) => outcome === "failed").length;
    this.#counts.push({ at: this.#source.now(), calls: matching.length, failed });
  }

  #tick(): void {
    const now = this.#source.now();
    if (now - this.#pulseAt >= PULSE_MS) {
      this.#pulseAt = now;
      if (!this.#source.isAllowed()) return this.#end();
      const running = this.#source.running();
      const text = JSON.stringify(running.calls);
      if (text !== this.#lastRunning || text !== "[]") this.#running = eventText("running", running);
      this.#lastRunning = text;
      if (this.#pulse !== undefined) this.#skipped++;
      this.#pulse = eventText("pulse", this.#pulseOf(now, running));
    }
    this.#wake?.();
  }

  /** The next event that is due. */
  #next(): string | undefined {
    const now = this.#source.now();
    if (this.#matched > 0 && now - this.#callsAt >= EVENT_MS) {
      this.#callsAt = now;
      const calls = this.#source.show(this.#calls.toSorted((a, b) => a.startedAt - b.startedAt));
      const text = eventText("calls", {
        calls: calls as LiveEvents["calls"]["calls"],
        matched: this.#matched,
      });
      this.#calls = [];
      this.#matched = 0;
      return text;
    }
    const text = this.#running ?? this.#pulse;
    if (this.#running !== undefined) this.#running = undefined;
    else if (this.#pulse !== undefined) {
      this.#pulse = undefined;
      this.#skipped = 0;
    }
    return text;
  }

  #pulseOf(now: number, { total, held }: LiveEvents["running"]): LiveEvents["pulse"] {
    this.#counts = this.#counts.filter(({ at }) => now - at < RATE_MS);
    const perSecond = (member: "calls" | "failed") =>
      (this.#counts.reduce((sum, count) => sum + count[member], 0) * 1_000) / RATE_MS;
    return {
      at: now,
      perSecond: perSecond("calls"),
      failedPerSecond: perSecond("failed"),
      running: total,
      held,
      skipped: this.#skipped,
      behind: this.#source.isFaulty(),
    };
  }
}

function eventText<Name extends keyof LiveEvents>(name: Name, data: LiveEvents[Name]): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
