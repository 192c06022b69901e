/** The line below the table: the figures are those of the proof. */
import { Figure } from "../../parts/controls.tsx";
import { moment } from "../../numbers/times.ts";
import { dayName, type Period } from "./period.ts";

interface Props {
  completeFrom: number | undefined;
  /** The sums are of the newest calls alone. */
  searchedTo: number | undefined;
  period: Period;
  /** The calls themselves are added up, instead of the sums of the books. */
  isOfCalls: boolean;
}

export function ProofLine({ completeFrom, searchedTo, period, isOfCalls }: Props) {
  return (
    <>
      {searchedTo !== undefined && (
        <span class="c-warn">
          Only calls since {moment(searchedTo)}: there are more than are added up one by one. Choose a shorter
          time, or another grouping.
        </span>
      )}
      {completeFrom !== undefined && completeFrom > period.from && (
        <span class="c-warn">
          The {isOfCalls ? "records" : "sums"} of calls before {dayName(completeFrom)} are deleted: these
          figures are too low.
        </span>
      )}
      <span>
        {isOfCalls
          ? "The calls themselves are added up, to the nano-dollar."
          : `Rows = ${period.step} sums = what budgets booked, to the nano-dollar.`}{" "}
        Times of bars are UTC.
      </span>
      <Figure to="/store" title="The proof of the books">
        The proof
      </Figure>
    </>
  );
}
