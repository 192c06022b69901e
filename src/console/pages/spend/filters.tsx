/** The filters of Spend. They are those of Calls that sums exist for, and Calls takes them over. */
import { type FilterName, filtersOf } from "../../data/filters.ts";
import { setQuery } from "../../data/location.ts";
import { Button } from "../../parts/controls.tsx";
import { FilterBar } from "../../parts/filter-bar.tsx";

/** Filters of the sums. */
const SUMMED = [
  ...(["key", "path", "tag", "model", "provider", "client", "session", "state"] as const),
] satisfies readonly FilterName[];

export type SpendFilters = Partial<Record<(typeof SUMMED)[number], string>>;

export function filtersFor(query: Readonly<Record<string, string>>): SpendFilters {
  return Object.fromEntries(SUMMED.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

/** The filters of the address that the sums cannot follow. */
export function ignoredOf(query: Readonly<Record<string, string>>): FilterName[] {
  const names = Object.keys(filtersOf(query)) as FilterName[];
  return names.filter((name) => !SUMMED.some((summed) => summed === name));
}

/** The filter box. A filter that the sums do not know is named: the figures are without it. */
export function SpendFilterBar({ query }: { query: Readonly<Record<string, string>> }) {
  const ignored = ignoredOf(query);
  return (
    <>
      <FilterBar switches={false} />
      {ignored.length > 0 && (
        <div class="note warn" role="alert">
          <span>
            Spend has no sums by <b>{ignored.join(", ")}</b>: that filter is not applied here.
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
