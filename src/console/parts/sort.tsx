/** Heads of columns that order their table: the largest first. The order is in the address. */
import type { ComponentChildren } from "preact";
import { query, setQuery } from "../data/location.ts";

/** @param props.by value of `?sort=`; a second click takes the usual order */
export function SortHead(props: { by: string; look?: string; children: ComponentChildren }) {
  const isBy = query.value["sort"] === props.by;
  return (
    <th scope="col" class={props.look} aria-sort={isBy ? "descending" : "none"}>
      <button
        type="button"
        class="sort"
        title={isBy ? "Back to the usual order" : "The largest first"}
        onClick={() => setQuery({ sort: isBy ? undefined : props.by })}
      >
        {props.children}
        {isBy && " ↓"}
      </button>
    </th>
  );
}

/** Rows in the order of the address, if it is one of these; those without a number are last. */
export function sortedBy<Row>(
  rows: readonly Row[],
  orders: Readonly<Record<string, (row: Row) => number | undefined>>,
): readonly Row[] {
  const name = query.value["sort"] ?? "";
  const order = Object.hasOwn(orders, name) ? orders[name] : undefined;
  if (!order) return rows;
  return rows.toSorted((a, b) => (order(b) ?? -Infinity) - (order(a) ?? -Infinity) || 0);
}
