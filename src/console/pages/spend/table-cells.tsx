/** The cells of a row of Spend. */
import type { ComponentChildren } from "preact";
import { hrefOf, type QueryChange } from "../../data/location.ts";
import { count, percent, whole } from "../../numbers/counts.ts";
import { Figure } from "../../parts/controls.tsx";
import { MoneyCell, Unpriced } from "../../parts/numbers.tsx";
import { ShareBar } from "../../parts/panel.tsx";
import { type Group, paidPerMillion, type Sums, tokensOf, uncertainOf } from "./figures.ts";

export const UNKNOWN = <span class="dim">–</span>;

interface Props {
  group: Group;
  name: ComponentChildren;
  /** What the bar of shares is measured against. */
  biggest: number;
  /** The filter of its calls; absent if no filter selects them. */
  query: QueryChange | undefined;
  /** The cost of the time before is known. */
  isKnownBefore?: boolean;
}

export function Cells({ group, name, biggest, query, isKnownBefore = false }: Props) {
  const paid = paidPerMillion(group);
  const isUnpriced = group.cost === 0 && group.unpriced > 0;
  return (
    <>
      <td class="p-name">{name}</td>
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
    </>
  );
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

export function uncertainShare(sums: Sums, query: QueryChange | undefined) {
  const uncertain = uncertainOf(sums);
  if (sums.cost === 0) return UNKNOWN;
  return linked(
    percent(uncertain / sums.cost),
    uncertain > 0 && query ? { ...query, state: "uncertain" } : undefined,
  );
}

/** `+23 %`, `new` for what cost nothing before. */
export function change(cost: number, before: number | undefined) {
  if (cost === 0 && !before) return <span class="dim">–</span>;
  if (!before) return <span class="dim">new</span>;
  const share = cost / before - 1;
  if (share > 9.995) return `${Math.round(cost / before)} times`;
  const digits = Math.abs(share * 100).toFixed(0);
  return `${digits === "0" ? "±" : share > 0 ? "+" : "−"}${digits} %`;
}
