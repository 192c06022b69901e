/** The groups of Spend: the same figures as the chart, as text. */
import { useState } from "preact/hooks";
import { hrefOf, query, type QueryChange, setQuery } from "../../data/location.ts";
import { count, whole } from "../../numbers/counts.ts";
import { dollars } from "../../numbers/money.ts";
import { Figure } from "../../parts/controls.tsx";
import { MoneyCell } from "../../parts/numbers.tsx";
import {
  type Dimension,
  DIMENSIONS,
  type Group,
  type Rank,
  type Series,
  type Sums,
  sum,
  tokensOf,
} from "./figures.ts";
import { SubRows } from "./subgroups.tsx";
import { Cells, change, uncertainShare, UNKNOWN } from "./table-cells.tsx";
import { Swatch } from "./tip.tsx";

interface Props {
  groups: readonly Group[];
  series: readonly Series[];
  total: Sums;
  dimension: Dimension;
  title: string;
  against: string;
  /** The sums of the time before. */
  before: Sums | undefined;
  calls: QueryChange;
  /** Filters and time of the sums. */
  sums: Readonly<Record<string, string | number | undefined>>;
  rank: Rank;
  /** What a row is divided by. */
  second: Dimension;
}

/** Of the table. */
const COLUMNS = 8;

/** Rows at first, and more with each click. */
const ROWS = 60;

export function SpendTable(props: Props) {
  const { groups, series, total, dimension, title, against, before, calls, sums, rank, second } = props;
  const [most, setMost] = useState(ROWS);
  // Without calls in the time before there is nothing to compare with. Days are compared in the chart, with their weekday.
  const isKnownBefore = before !== undefined && before.calls > 0 && dimension !== "day";
  const overlaps = dimension === "tag" && sum(groups, ({ cost }) => cost) !== total.cost;
  const sorted = (by: Rank) => ({ "aria-sort": rank === by ? ("descending" as const) : undefined });
  const biggest = Math.max(0, ...groups.map(({ cost }) => cost));
  return (
    <>
      <div class="scroll">
        <table class="tbl spend">
          <thead>
            <tr>
              <th scope="col">{DIMENSIONS[dimension]}</th>
              <th scope="col" class="num" {...sorted("cost")}>
                Spent
              </th>
              <th scope="col" class="w3">
                <span class="vh">Share</span>
              </th>
              <th scope="col" class="num">
                Uncertain
              </th>
              <th scope="col" class="num w3">
                Against {against}
              </th>
              <th scope="col" class="num w3" {...sorted("calls")}>
                Calls
              </th>
              <th scope="col" class="num w3 w2" {...sorted("tokens")}>
                Tokens
              </th>
              <th scope="col" class="num w3 w2">
                $ a million, as paid
              </th>
            </tr>
          </thead>
          <tbody>
            {groups.slice(0, most).map((group) => (
              <GroupRow
                key={group.id}
                {...{ group, biggest, calls, isKnownBefore, sums, rank, second }}
                colour={colourOf(group, series)}
              />
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td>{title}</td>
              <td class="num">
                <Figure query={calls}>
                  <MoneyCell nano={total.cost} fraction={6} />
                </Figure>
              </td>
              <td class="w3" />
              <td class="num">{uncertainShare(total, calls)}</td>
              <td class="num w3">{before && before.calls > 0 ? change(total.cost, before.cost) : UNKNOWN}</td>
              <td class="num w3">{whole(total.calls)}</td>
              <td class="num w3 w2">{count(tokensOf(total))}</td>
              <td class="w3 w2" />
            </tr>
          </tfoot>
        </table>
      </div>
      {overlaps && (
        <p class="body mid">A call with several tags is in the row of each, and once in the total.</p>
      )}
      {groups.length > most && (
        <div class="more">
          <button type="button" class="btn" onClick={() => setMost(most + ROWS)}>
            Show {Math.min(ROWS, groups.length - most)} more
          </button>
          {groups.length - most} more, {dollars(sum(groups.slice(most), ({ cost }) => cost))} together; the
          total contains them.
        </div>
      )}
    </>
  );
}

interface RowProps extends Pick<Props, "calls" | "sums" | "rank" | "second"> {
  group: Group;
  /** Absent if its group has no bars of its own. */
  colour: Series["colour"] | undefined;
  biggest: number;
  isKnownBefore: boolean;
}

/** A click narrows Spend to the group; the figure opens its calls; the arrow divides it. */
function GroupRow({ group, colour, calls, sums, rank, second, ...rest }: RowProps) {
  const { selects, name, id } = group;
  const isDivided = query.value["divided"] === id;
  const narrowed = selects && { ...selects, by: second, divided: undefined };
  return (
    <>
      <tr>
        <Cells
          {...{ group }}
          {...rest}
          query={selects && { ...calls, ...selects }}
          name={
            <span class="mark" title={name}>
              {selects && (
                <button
                  type="button"
                  class="link divide"
                  aria-expanded={isDivided}
                  aria-label={`${name} by ${DIMENSIONS[second].toLowerCase()}`}
                  onClick={() => setQuery({ divided: isDivided ? undefined : id }, { replace: true })}
                >
                  {isDivided ? "▾" : "▸"}
                </button>
              )}
              {colour !== undefined && <Swatch colour={colour} />}
              {narrowed ? (
                <a class="plain clip" href={hrefOf("/spend", { ...query.value, ...narrowed })}>
                  {name}
                </a>
              ) : (
                <span class="clip dim">{name}</span>
              )}
            </span>
          }
        />
      </tr>
      {isDivided && selects && <SubRows {...{ group, second, rank, sums, calls }} columns={COLUMNS} />}
    </>
  );
}

function colourOf({ id }: Group, series: readonly Series[]): Series["colour"] | undefined {
  return series.find(({ ids }) => ids?.has(id))?.colour;
}
