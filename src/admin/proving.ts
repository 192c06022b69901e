/** What proofs for pages need of the keeper. */
import type { Proven } from "../keeper/proof/prover.ts";
import type { Since } from "../keeper/proof/since.ts";
import type { Reports } from "../keeper/reports/reports.ts";
import type { AuditReport } from "../keeper/reports/shapes.ts";
import type { AdminBooks } from "./books.ts";

/** The proofs of the keeper. */
export interface Proving {
  /** Reads all rows. */
  full(): Promise<AuditReport>;
  /** Proves the rows since the last proof. */
  since(): Promise<Since>;
  /** The last proof that the store keeps: of an earlier keeper, or of another node. */
  last(): Promise<Proven | undefined>;
  /** @param day in days since 1970 @returns whether no node has taken it before */
  take(day: number): Promise<boolean>;
  /** Logs what does not hold. */
  report(message: string, cause: string): void;
}

/** @param read runs work on the reports */
export function provingOf(
  read: <Value>(work: (reports: Reports) => Promise<Value>) => Promise<Value>,
  log: Pick<AdminBooks, "report">,
): Proving {
  return {
    full: () => read((reports) => reports.audit()),
    since: () => read((reports) => reports.prover.since()),
    last: () => read((reports) => reports.lastProof()),
    take: (day) => read((reports) => reports.prover.take(day)),
    report: (message, cause) => log.report(message, cause),
  };
}
