/** The line below the table: the figures are those of the proof. */
import { Figure } from "../../parts/controls.tsx";
import { dayName, type Period } from "./period.ts";

export function ProofLine({ completeFrom, period }: { completeFrom: number | undefined; period: Period }) {
  return (
    <>
      {completeFrom !== undefined && completeFrom > period.from && (
        <span class="c-warn">
          The sums of calls before {dayName(completeFrom)} are deleted: these figures are too low.
        </span>
      )}
      <span>
        Rows = {period.step} sums = what budgets booked, to the nano-dollar. Hours and days are UTC.
      </span>
      <Figure to="/store" title="The proof of the books">
        The proof
      </Figure>
    </>
  );
}
