/** The rows below a group of Spend that is divided by a second dimension. */
import type { usage as getUsage } from "../../data/types.ts";
import { queryOf } from "../../data/api.ts";
import type { QueryChange } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { dollars } from "../../numbers/money.ts";
import { type Dimension, type Group, groups, groupsOf, type Rank } from "./figures.ts";
import { Cells } from "./table-cells.tsx";

/** Rows at most; the rest is one sentence. */
const ROWS = 12;

interface Props {
  group: Group;
  second: Dimension;
  rank: Rank;
  /** Filters and time of the sums. */
  sums: Readonly<Record<string, string | number | undefined>>;
  calls: QueryChange;
  columns: number;
}

export function SubRows({ group, second, rank, sums, calls, columns }: Props) {
  const to = `/usage${queryOf({ by: groupsOf(second), ...sums, ...group.selects, range: undefined })}`;
  const { data, error } = useApi<typeof getUsage>(to as "/usage");
  if (!data)
    return (
      <tr class="sub">
        <td colSpan={columns}>{error ? error.message : "…"}</td>
      </tr>
    );
  const all = groups(data.rows, [], second, rank);
  const rest = all.slice(ROWS);
  return (
    <>
      {all.slice(0, ROWS).map((one) => (
        <tr key={one.id} class="sub">
          <Cells
            group={one}
            biggest={group.cost}
            query={one.selects && { ...calls, ...group.selects, ...one.selects }}
            name={<span class="clip">{one.name}</span>}
          />
        </tr>
      ))}
      {rest.length > 0 && (
        <tr class="sub">
          <td colSpan={columns}>
            {rest.length} more, {dollars(rest.reduce((sum, { cost }) => sum + cost, 0))} together
          </td>
        </tr>
      )}
    </>
  );
}
