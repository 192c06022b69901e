/** Proofs of the books, as the store keeps them: one of all rows, and short ones of the rows behind it. */
import type { AuditProgress } from "../reports/audit.ts";
import { auditBooks } from "../reports/audit.ts";
import type { AuditReport } from "../reports/shapes.ts";
import { PROVEN_DAY } from "../store/meta.ts";
import type { Sql } from "../store/sql.ts";
import type { NamedTables } from "../seams.ts";
import { type Base, keepBase, readBase } from "./base.ts";
import { PROOF_TABLES } from "./tables.ts";
import { proveSince, type Since } from "./since.ts";

/** A proof. Times are milliseconds since 1970. */
export interface Proven {
  /** Of the proof of all rows. */
  report: AuditReport;
  /** When the newest rows were proven, and how long it took. Milliseconds. */
  at: number;
  ms: number;
  full: { at: number; ms: number };
  /** Proven since the proof of all rows. */
  calls: number;
}

export class Prover {
  readonly #reader: Sql;
  readonly #writer: Sql;
  readonly #now: () => number;
  /** Undefined: without the tables of ./tables.ts nothing is kept. */
  readonly #isKept: boolean;

  readonly #features: readonly NamedTables[];

  /** @param reader that no page waits for @param features their tables, which may have checks of their own */
  constructor(reader: Sql, writer: Sql, now: () => number, features: readonly NamedTables[]) {
    this.#reader = reader;
    this.#writer = writer;
    this.#now = now;
    this.#features = features;
    this.#isKept = features.includes(PROOF_TABLES);
  }

  /** Reads all rows. @param onProgress called before each check */
  async full(onProgress: (progress: AuditProgress) => void): Promise<AuditReport> {
    const began = performance.now();
    let base: Base | undefined;
    const whenHeld = async (view: Sql) => {
      if (this.#isKept) base = await readBase(view, this.#now());
    };
    const report = await auditBooks(this.#reader, onProgress, whenHeld, this.#features);
    const ms = Math.round(performance.now() - began);
    if (this.#isKept) await keepBase(this.#writer, base, { report, at: this.#now(), ms });
    return report;
  }

  /** The last proof that is kept. @param reader for pages */
  async last(reader: Sql): Promise<Proven | undefined> {
    if (!this.#isKept) return undefined;
    const [row] = await reader.all<{
      at: number;
      calls: number;
      ms: number;
      full_at: number;
      full_ms: number;
      report: string;
    }>("SELECT at, calls, ms, full_at, full_ms, report FROM proof");
    if (!row) return undefined;
    const { at, calls, ms, full_at: fullAt, full_ms: fullMs } = row;
    return { at, calls, ms, full: { at: fullAt, ms: fullMs }, report: JSON.parse(row.report) as AuditReport };
  }

  /** Proves the rows behind the last proof. */
  since(): Promise<Since> {
    return this.#isKept ? proveSince(this.#reader, this.#writer, this.#now) : Promise.resolve("none");
  }

  /** @param day of the calendar, as a number that increases @returns whether no node has taken it before */
  async take(day: number): Promise<boolean> {
    const changed = await this.#writer.run(
      `INSERT INTO meta (name, value) VALUES ('${PROVEN_DAY}', $1)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.value < excluded.value`,
      [day],
    );
    return changed > 0;
  }
}
