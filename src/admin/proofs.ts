/**
 * Proofs of the books. One of all rows takes seconds for a million calls: it runs once a night on one node, and when an operator
 * asks for it. Pages share a proof of the rows that came since the last one, which takes milliseconds.
 */
import type { TimedReport } from "../keeper/reports/shapes.ts";
import type { BooksCondition } from "./books.ts";
import type { Proving } from "./proving.ts";

/** Pages get no new proof of all rows before this many times the duration of the last one: it then takes a hundredth of the time. */
const REST = 100;
/** The hour of the night, in the local time, from which on a day's proof of all rows is due. */
const NIGHT = 3;
const LOOK_MS = 600_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export class Proofs {
  readonly #of: Proving;
  #last: TimedReport | undefined;
  #running: Promise<TimedReport> | undefined;
  /** Proofs of all rows that run. */
  #reading = 0;
  /** When a proof of new rows led to one of all rows. */
  #doubted = 0;

  constructor(proving: Proving) {
    this.#of = proving;
  }

  /** The last proof since the start. */
  get last(): BooksCondition["proof"] {
    if (!this.#last) return undefined;
    const { at, full, holds } = this.#last;
    return { at, ms: full.ms, holds };
  }

  /** @param maxAgeMs how old a proof may be at least; undefined: one of all rows begins now */
  async get(maxAgeMs?: number): Promise<TimedReport> {
    if (maxAgeMs === undefined) return this.#full();
    this.#running ??= this.#shared(maxAgeMs).finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Proves all rows once a night, on one node. */
  watch(): void {
    const timer = setInterval(() => void this.night().catch(() => {}), LOOK_MS);
    timer.unref();
  }

  async night(now = Date.now()): Promise<void> {
    const local = now - new Date(now).getTimezoneOffset() * 60_000;
    if (!(await this.#of.take(Math.floor((local - NIGHT * HOUR_MS) / DAY_MS)))) return;
    const { holds, checks } = await this.#full();
    if (holds) return;
    const faults = checks.flatMap(({ holds: isHeld, name, detail }) =>
      isHeld ? [] : [`${name}: ${detail}`],
    );
    this.#of.report("the books do not hold", faults.join("; "));
  }

  async #shared(maxAgeMs: number): Promise<TimedReport> {
    const last = await this.#newest();
    const now = Date.now();
    // The proof of new rows would wait for the one of all rows.
    if (last && (now - last.at < maxAgeMs || this.#reading > 0)) return last;
    const rest = last ? last.full.at + REST * last.full.ms - now : 0;
    const since = await this.#of.since();
    if (since !== "none" && "proven" in since) {
      const { report, ...kept } = (await this.#of.last())!;
      return (this.#last = { ...report, ...kept });
    }
    if (since === "none") return last && rest > 0 ? last : this.#full();
    // It may be a row that came late: the proof of all rows decides, and is not repeated at once.
    const isDecided = this.#doubted > 0 && last!.full.at >= this.#doubted;
    if (isDecided && rest > 0) return failed(last!, since.fault);
    this.#doubted = now;
    return this.#full();
  }

  async #newest(): Promise<TimedReport | undefined> {
    const kept = await this.#of.last();
    if (!kept || (this.#last && this.#last.full.at > kept.full.at)) return this.#last;
    const { report, ...rest } = kept;
    return (this.#last = { ...report, ...rest });
  }

  async #full(): Promise<TimedReport> {
    const began = performance.now();
    this.#reading++;
    const report = await this.#of.full().finally(() => this.#reading--);
    const [at, ms] = [Date.now(), Math.round(performance.now() - began)];
    return (this.#last = { ...report, at, calls: 0, full: { at, ms } });
  }
}

function failed(last: TimedReport, fault: string): TimedReport {
  const check = {
    name: "the calls since the last proof of all rows agree with it",
    holds: false,
    detail: fault,
  };
  return { ...last, at: Date.now(), holds: false, checks: [check, ...last.checks] };
}
