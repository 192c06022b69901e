/** The filters of Spend. They are those of Calls that sums exist for, and Calls takes them over. */
import { type FilterName, filtersOf } from "../../data/filters.ts";
import { setQuery } from "../../data/location.ts";
import { Button } from "../../parts/controls.tsx";
import { FilterBar } from "../../parts/filter-bar.tsx";

/** Filters of the sums of Spend. */
export const SPEND_FILTERS = [
  ...(["key", "path", "tag", "model", "provider", "client", "session", "state"] as const),
] satisfies readonly FilterName[];

/** Filters of sums by their names. */
export type SumFilters = Partial<Record<FilterName, string>>;

export function filtersFor(
  query: Readonly<Record<string, string>>,
  names: readonly FilterName[] = SPEND_FILTERS,
): SumFilters {
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

interface BarProps {
  query: Readonly<Record<string, string>>;
  /** The filters that the sums of the page follow. Default: those of Spend. */
  names?: readonly FilterName[];
}

/** The filter box. A filter that the sums do not know is named: the figures are without it. */
export function SumFilterBar({ query, names = SPEND_FILTERS }: BarProps) {
  const ignored = (Object.keys(filtersOf(query)) as FilterName[]).filter((name) => !names.includes(name));
  return (
    <>
      <FilterBar switches={false} />
      {ignored.length > 0 && (
        <div class="note warn" role="alert">
          <span>
            There are no sums by <b>{ignored.join(", ")}</b>: that filter is not applied here.
          </span>
          <Button
            kind="quiet"
            onClick={() => setQuery(Object.fromEntries(ignored.map((name) => [name, undefined])))}
          >
            Remove
          </Button>
        </div>
      )}
    </>
  );
}
