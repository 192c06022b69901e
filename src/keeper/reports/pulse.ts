/** Figures of the last hour, from the records as they arrive: calls by minute, statuses of failures, times until the first event. */
import type { CallRecord } from "../../ledger/record.ts";

const MINUTE_MS = 60_000;
const MINUTES = 60;
/** The upper ends of the classes of durations grow by this factor, so a percentile is exact to 10 %. */
const GROWTH = 1.1;
const CLASSES = 160;

interface Minute {
  /** Minutes since 1970. */
  number: number;
  calls: number;
  failed: number;
  rejected: number;
  statuses: Map<number, number>;
  /** Streams by the class of their time until the first event. */
  first: Uint32Array;
}

export interface HourFigures {
  /** Calls of each minute, the oldest first. */
  perMinute: number[];
  failedPerMinute: number[];
  calls: number;
  /** Calls that a provider or weir could not answer. */
  failed: number;
  /** Calls that weir answered with an error before it asked a provider: refusals of rules, mistakes of clients. */
  rejected: number;
  /** The most frequent status of failed calls. */
  commonest?: { status: number; calls: number };
  firstToken: { calls: number; p50?: number; p95?: number };
}

export class Pulse {
  readonly #minutes: (Minute | undefined)[] = Array.from({ length: MINUTES + 1 });
  /** The figures begin here. Milliseconds since 1970. */
  readonly since: number;
  lastCallAt: number | undefined;

  constructor(now: number) {
    this.since = now;
  }

  add(calls: readonly CallRecord[], now: number): void {
    if (calls.length === 0) return;
    const minute = this.#minute(Math.floor(now / MINUTE_MS));
    this.lastCallAt = now;
    for (const { outcome, status, stream, firstMs, attempts } of calls) {
      minute.calls++;
      if (outcome === "failed" && attempts.length === 0 && status < 500) minute.rejected++;
      else if (outcome === "failed") {
        minute.failed++;
        minute.statuses.set(status, (minute.statuses.get(status) ?? 0) + 1);
      }
      if (stream && firstMs !== undefined) minute.first[classOf(firstMs)]!++;
    }
  }

  /** The last hour; the last minute is not over. */
  hour(now: number): HourFigures {
    const last = Math.floor(now / MINUTE_MS);
    const minutes = Array.from({ length: MINUTES }, (_, index) => {
      const number = last - MINUTES + 1 + index;
      const minute = this.#minutes[number % this.#minutes.length];
      return minute?.number === number ? minute : undefined;
    });
    const first = new Uint32Array(CLASSES);
    const statuses = new Map<number, number>();
    for (const minute of minutes) {
      minute?.first.forEach((calls, index) => (first[index]! += calls));
      for (const [status, calls] of minute?.statuses ?? [])
        statuses.set(status, (statuses.get(status) ?? 0) + calls);
    }
    const perMinute = minutes.map((minute) => minute?.calls ?? 0);
    const failedPerMinute = minutes.map((minute) => minute?.failed ?? 0);
    const [commonest] = [...statuses].sort(([, a], [, b]) => b - a);
    return {
      perMinute,
      failedPerMinute,
      calls: sumOf(perMinute),
      failed: sumOf(failedPerMinute),
      rejected: sumOf(minutes.map((minute) => minute?.rejected ?? 0)),
      ...(commonest && { commonest: { status: commonest[0], calls: commonest[1] } }),
      firstToken: percentilesOf(first),
    };
  }

  #minute(number: number): Minute {
    const at = number % this.#minutes.length;
    const known = this.#minutes[at];
    if (known?.number === number) return known;
    const first = new Uint32Array(CLASSES);
    return (this.#minutes[at] = { number, calls: 0, failed: 0, rejected: 0, statuses: new Map(), first });
  }
}

function classOf(ms: number): number {
  return Math.max(0, Math.min(CLASSES - 1, Math.ceil(Math.log(ms) / Math.log(GROWTH))));
}

function percentilesOf(classes: Uint32Array): HourFigures["firstToken"] {
  const calls = sumOf(classes);
  if (calls === 0) return { calls };
  const at = (share: number) => {
    let rest = Math.ceil(calls * share);
    const index = classes.findIndex((count) => (rest -= count) <= 0);
    return Math.round(GROWTH ** index);
  };
  return { calls, p50: at(0.5), p95: at(0.95) };
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}
