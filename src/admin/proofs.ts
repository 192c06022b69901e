/**
 * Proofs of the books. One reads all rows, which takes seconds for a million calls, so operators who only look share the last one.
 */
import type { AuditReport } from "../keeper/reports/shapes.ts";
import type { BooksCondition } from "./books.ts";

/** Who only looks gets no new proof before this many times the duration of the last one: proofs then take a hundredth of the time. */
const REST = 100;

/** A proof and when it was made: milliseconds since 1970. */
export type TimedReport = AuditReport & { readonly at: number };

export class Proofs {
  readonly #prove: () => Promise<AuditReport>;
  #last: { readonly report: TimedReport; readonly ms: number } | undefined;
  #running: Promise<TimedReport> | undefined;

  constructor(prove: () => Promise<AuditReport>) {
    this.#prove = prove;
  }

  /** The last proof since the start. */
  get last(): BooksCondition["proof"] {
    if (!this.#last) return undefined;
    const { report, ms } = this.#last;
    return { at: report.at, ms, holds: report.holds };
  }

  /** @param maxAgeMs how old a proof may be at least; undefined: it begins now */
  async get(maxAgeMs?: number): Promise<TimedReport> {
    if (maxAgeMs === undefined) return this.#make();
    const { report, ms } = this.#last ?? {};
    if (report && Date.now() - report.at < Math.max(maxAgeMs, REST * ms!)) return report;
    this.#running ??= this.#make().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #make(): Promise<TimedReport> {
    const began = performance.now();
    const report = { ...(await this.#prove()), at: Date.now() };
    this.#last = { report, ms: Math.round(performance.now() - began) };
    return report;
  }
}
