/** The filters of Spend. They are those of Calls that sums exist for, and Calls takes them over. */
import { type FilterName } from "../../data/filters.ts";
import { setQuery } from "../../data/location.ts";

/** Filters of the sums. */
const SUMMED = ["key", "path", "tag", "model", "provider"] as const satisfies readonly FilterName[];

export type SpendFilters = Partial<Record<(typeof SUMMED)[number], string>>;

export function filtersFor(query: Readonly<Record<string, string>>): SpendFilters {
  return Object.fromEntries(SUMMED.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

export function FilterChips({ filters }: { filters: SpendFilters }) {
  const chips = Object.entries(filters);
  if (chips.length === 0) return null;
  return (
    <div class="chips">
      <span class="dim">Only</span>
      {chips.map(([name, value]) => (
        <span class="chip" key={name}>
          <span>
            {name} <b>{value}</b>
          </span>
          <button
            type="button"
            aria-label={`Remove the filter ${name} ${value}`}
            onClick={() => setQuery({ [name]: undefined })}
          >
            ×
          </button>
        </span>
      ))}
    </div>
  );
}
