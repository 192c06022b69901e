/** The groups of a report as rows, and the sides of a changed call. */
import { exactDollars } from "../../../console/numbers/money.ts";
import type { RehearsalExample, RehearsalReport } from "../page/contracts.ts";

type Group = RehearsalReport["causes"][string]["groups"][number];

export interface GroupRow extends Group {
  id: string;
  cause: string;
}

/** Those of a cause side by side, the largest first. */
export function rowsOf({ causes }: RehearsalReport): GroupRow[] {
  return Object.entries(causes).flatMap(([cause, { groups }]) =>
    groups.map((group) => ({ id: `${cause}: ${group.what}`, cause, ...group })),
  );
}

/** All that differs, with its values on one side. */
export function sideOf(
  { differences }: RehearsalExample,
  side: "before" | "after",
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    differences.map(({ cause, what, [side]: value }) => [
      `${cause}: ${what}`,
      cause === "price" && typeof value === "number" ? exactDollars(value) : value,
    ]),
  );
}
