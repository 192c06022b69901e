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
  "tried",
  "refused",
  "state",
  "flag",
  "fact",
  "cost",
  "took",
  "tokens",
  "id",
  "-key",
  "-path",
  "-tag",
  "-model",
  "-provider",
  "-client",
  "-status",
  "-outcome",
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
  fact,
  ...filters
}: Filters): Record<string, string | number | boolean | undefined> {
  return {
    ...filters,
    ...(flag === "slow" && { slowerThan: SLOW }),
    ...(flag === "retried" && { retried: true }),
    ...(flag === "losses" && { losses: true }),
    ...(flag === "rejected" && { rejected: true }),
    ...(flag === "errors" && { outcome: "failed", rejected: false }),
    // A column of the log and its value: `tool:search`.
    ...(fact && (Object.fromEntries([fact.split(/:(.*)/)]) as Record<string, string>)),
  };
}

/** Filters whose values are names that may contain spaces. */
const SPACED: ReadonlySet<string> = new Set(["key", "client", "tag"]);
const NAMED = new RegExp(`(?:^|\\s)(${FILTERS.join("|")}):`, "g");
/** A value in quotation marks. */
const QUOTED = /^\s*"([^"]*)"/;

/** The text of the filter box: any number of `name:value`, `-name:value` and `name:"a value"`, and words to search. */
export function readFilters(text: string): Filters {
  const found: Filters = {};
  const words: string[] = [];
  const marks = [...text.matchAll(NAMED)];
  words.push(text.slice(0, marks[0]?.index));
  marks.forEach((mark, at) => {
    const name = mark[1] as FilterName;
    const given = text.slice(mark.index + mark[0].length, marks[at + 1]?.index);
    const quoted = QUOTED.exec(given);
    const rest = given.trim();
    // The id of a request is never a part of a name.
    const end = rest.search(SPACED.has(name.replace("-", "")) ? /\s+req_/ : /\s/);
    const value = quoted?.[1] ?? (end < 0 ? rest : rest.slice(0, end));
    if (value === "") words.push(mark[0]);
    else found[name] = value;
    if (quoted) words.push(given.slice(quoted[0].length));
    else if (end >= 0) words.push(rest.slice(end));
  });
  const searched = words.join(" ").trim().replace(/\s+/g, " ");
  if (searched !== "") found.q = unquoted(searched);
  return found;
}

const unquoted = (text: string) => /^"([^"]+)"$/.exec(text)?.[1] ?? text;

/** The part of the text that is being typed: its beginning, and the rest before it. */
export function typedPart(text: string): [before: string, part: string] {
  const named = [...text.matchAll(NAMED)].at(-1);
  const at = named ? named.index + (/^\s/.test(named[0]) ? 1 : 0) : 0;
  const value = named ? text.slice(named.index + named[0].length) : "";
  const spaced = named && SPACED.has(named[1]!.replace("-", ""));
  // Behind a whole value the next part begins.
  const isOver = QUOTED.test(value) || (!spaced && /\S\s/.test(value)) || !named;
  const start = isOver ? Math.max(at, text.lastIndexOf(" ") + 1) : at;
  return [text.slice(0, start), text.slice(start)];
}

/** A query that removes all filters. */
export function noFilters(): Record<string, undefined> {
  return Object.fromEntries(FILTERS.map((name) => [name, undefined]));
}

/** Pages that have a range or filters. They take them over from each other. */
const LOOKING: ReadonlySet<string> = new Set(["/", "/calls", "/spend", "/providers", "/cache", "/prices"]);

/** What the menu takes along from the address of one page to another. */
export function keptFor(
  path: string,
  query: Readonly<Record<string, string>>,
  to: string,
): Record<string, string> {
  if (!LOOKING.has(path) || !LOOKING.has(to)) return {};
  const names = ["range", "from", "to", ...FILTERS];
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}
