/** Filters of calls. They have the same names in the address, in the filter box and in the admin API. */

/** In the order in which chips stand. */
export const FILTERS = [
  "key",
  "path",
  "tag",
  "model",
  "asked",
  "provider",
  "deployment",
  "format",
  "client",
  "session",
  "status",
  "outcome",
  "refused",
  "state",
  "flag",
  "q",
] as const;
export type FilterName = (typeof FILTERS)[number];
export type Filters = Partial<Record<FilterName, string>>;

/** Switches beside the filter box: `[text, filter, value]`. */
export const SWITCHES: readonly (readonly [string, FilterName, string])[] = [
  ["Failed", "outcome", "failed"],
  ["Slow > 5 s", "flag", "slow"],
  ["Retried", "flag", "retried"],
  ["Losses", "flag", "losses"],
  ["Uncertain cost", "state", "uncertain"],
];

export function filtersOf(query: Readonly<Record<string, string>>): Filters {
  const filters: Filters = {};
  for (const name of FILTERS) if (query[name]) filters[name] = query[name];
  return filters;
}

/** Milliseconds above which a call is slow. */
const SLOW = 5_000;

/** The query of the admin API for these filters. */
export function apiFilter({
  flag,
  outcome,
  ...filters
}: Filters): Record<string, string | number | boolean | undefined> {
  return {
    ...filters,
    ...(outcome === "failed" ? { failed: true } : { outcome }),
    ...(flag === "slow" && { slowerThan: SLOW }),
    ...(flag === "retried" && { retried: true }),
    ...(flag === "losses" && { losses: true }),
  };
}

/** `name:value` of the filter box, or a word to search. */
export function readFilter(text: string): readonly [FilterName, string] | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const colon = trimmed.indexOf(":");
  const name = FILTERS.find((one) => one === trimmed.slice(0, colon));
  const value = trimmed.slice(colon + 1).trim();
  return name !== undefined && value !== "" ? [name, value] : ["q", trimmed];
}

/** A query that removes all filters. */
export function noFilters(): Record<string, undefined> {
  return Object.fromEntries(FILTERS.map((name) => [name, undefined]));
}
