/** The groups of Spend: the same figures as the chart, as text. */
import { go, hrefOf, type QueryChange } from "../../data/location.ts";
import { count, percent, whole } from "../../numbers/counts.ts";
import { dollars } from "../../numbers/money.ts";
import { Figure } from "../../parts/controls.tsx";
import { MoneyCell, Unpriced } from "../../parts/numbers.tsx";
import { ShareBar } from "../../parts/panel.tsx";
import {
  type Dimension,
  DIMENSIONS,
  type Group,
  paidPerMillion,
  type Series,
  type Sums,
  sum,
  tokensOf,
  uncertainOf,
} from "./figures.ts";
import { Swatch } from "./tip.tsx";
import { useState } from "preact/hooks";

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
}

const UNKNOWN = <span class="dim">–</span>;

/** Rows at first, and more with each click. */
const ROWS = 60;

export function SpendTable({ groups, series, total, dimension, title, against, before, calls }: Props) {
  const [most, setMost] = useState(ROWS);
  // Without calls in the time before there is nothing to compare with. Days are compared in the chart, with their weekday.
  const isKnownBefore = before !== undefined && before.calls > 0 && dimension !== "day";
  const overlaps = dimension === "tag" && sum(groups, ({ cost }) => cost) !== total.cost;
  const biggest = groups[0]?.cost ?? 0;
  return (
    <>
      <div class="scroll">
        <table class="tbl spend">
          <thead>
            <tr>
              <th scope="col">{DIMENSIONS[dimension]}</th>
              <th scope="col" class="num">
                Spent
              </th>
              <th scope="col" class="w3" aria-label="Share" />
              <th scope="col" class="num">
                Uncertain
              </th>
              <th scope="col" class="num w3">
                Against {against}
              </th>
              <th scope="col" class="num w3">
                Calls
              </th>
              <th scope="col" class="num w3 w2">
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
                {...{ group, biggest, calls, isKnownBefore }}
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
          {groups.length - most} more, each at most {dollars(groups[most]!.cost)}; the total contains them.
        </div>
      )}
    </>
  );
}

interface RowProps {
  group: Group;
  /** Absent if its group has no bars of its own. */
  colour: Series["colour"] | undefined;
  biggest: number;
  calls: QueryChange;
  isKnownBefore: boolean;
}

function GroupRow({ group, colour, biggest, calls, isKnownBefore }: RowProps) {
  const query = group.selects && { ...calls, ...group.selects };
  const open = () => query && go("/calls", query);
  const paid = paidPerMillion(group);
  const isUnpriced = group.cost === 0 && group.unpriced > 0;
  return (
    <tr
      {...(query && { tabIndex: 0 })}
      onClick={(event) => !(event.target instanceof Element && event.target.closest("a")) && open()}
      onKeyDown={(event) => event.key === "Enter" && event.target === event.currentTarget && open()}
    >
      <td class="p-name">
        <span class="mark" title={group.name}>
          {colour !== undefined && <Swatch colour={colour} />}
          <span class={`clip ${query ? "" : "dim"}`}>{group.name}</span>
        </span>
      </td>
      <td class="num">
        {isUnpriced ? (
          <Unpriced />
        ) : query ? (
          <a class="fig" href={hrefOf("/calls", query)} title="Open the calls this is made of">
            <MoneyCell nano={group.cost} fraction={6} />
          </a>
        ) : (
          <MoneyCell nano={group.cost} fraction={6} />
        )}
      </td>
      <td class="w3">{biggest > 0 && <ShareBar share={group.cost / biggest} />}</td>
      <td class="num mid">{uncertainShare(group, query)}</td>
      <td class="num w3">{isKnownBefore ? change(group.cost, group.before) : UNKNOWN}</td>
      <td class="num w3">
        {whole(group.calls)}
        {group.unpriced > 0 && !isUnpriced && (
          <span class="dim">
            {" ("}
            {linked(
              `${whole(group.unpriced)} unpriced`,
              query && { ...query, state: "unpriced" },
              "Attempts without a price; they are in no sum",
            )}
            )
          </span>
        )}
      </td>
      <td class="num w3 w2">{count(tokensOf(group))}</td>
      <td class="num w3 w2">{paid === undefined ? <span class="dim">–</span> : paid.toFixed(3)}</td>
    </tr>
  );
}

function colourOf({ id }: Group, series: readonly Series[]): Series["colour"] | undefined {
  return series.find(({ ids }) => ids?.has(id))?.colour;
}

/** A figure that opens its calls, if a filter selects them. */
function linked(text: string, query: QueryChange | undefined, title?: string) {
  return query ? (
    <Figure query={query} {...(title !== undefined && { title })}>
      {text}
    </Figure>
  ) : (
    text
  );
}

function uncertainShare(sums: Sums, query: QueryChange | undefined) {
  const uncertain = uncertainOf(sums);
  if (sums.cost === 0) return UNKNOWN;
  return linked(
    percent(uncertain / sums.cost),
    uncertain > 0 && query ? { ...query, state: "uncertain" } : undefined,
  );
}

/** `+23 %`, `new` for what cost nothing before. */
function change(cost: number, before: number | undefined) {
  if (cost === 0 && !before) return <span class="dim">–</span>;
  if (!before) return <span class="dim">new</span>;
  const share = cost / before - 1;
  if (share > 9.995) return `${Math.round(cost / before)} times`;
  const digits = Math.abs(share * 100).toFixed(0);
  return `${digits === "0" ? "±" : share > 0 ? "+" : "−"}${digits} %`;
}
