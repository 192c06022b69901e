/** Reports: usage, prices, what another model would have cost. */
import { byPattern } from "../../core/model-sets.ts";
import type { KeyEntry } from "../../ledger/policy.ts";
import type { UsageReport, UsageSums } from "../../keeper/reports/shapes.ts";
import { listPrices, missingPrices, SUMS, usage, type USAGE_GROUPS, whatIf } from "../../operator/reports.ts";
import { filterOf } from "../filter.ts";
import { expectSets } from "../model-sets.ts";
import { type AdminRequest, answers } from "../operation.ts";

export const reportOperations = [
  answers(usage, async (given) => {
    const { by, ...filter } = given.query;
    const report = await given.books.usage({ ...filterOf(given, filter), by });
    const wantsCsv = given.headers.get("accept")?.includes("text/csv") === true;
    if (wantsCsv)
      return {
        text: csv(withKeyNames(report, given.books.policy().keys), by),
        type: "text/csv; charset=utf-8",
      };
    return { json: withKeyNames(report, given.books.policy().keys) };
  }),
  answers(listPrices, async ({ books, query }) => ({ json: await books.prices(query) })),
  answers(missingPrices, async ({ books }) => ({ json: { models: await books.missingPrices() } })),
  answers(whatIf, async (given) => {
    const { map, ...filter } = given.body;
    return { json: await given.books.whatIf({ ...filterOf(given, filter), map: mapOf(given, map) }) };
  }),
];

/** The map with the patterns of sets. @throws AdminError 400 for a set that does not exist */
function mapOf({ books }: Pick<AdminRequest, "books">, map: Readonly<Record<string, string>>) {
  expectSets({ books }, Object.keys(map), "/map");
  return byPattern(map, books.policy().modelSets ?? {});
}

/** Adds the names of keys to rows by key. Calls without a key, and keys that are removed, have none. */
function withKeyNames(report: UsageReport, keys: readonly KeyEntry[]) {
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const rows = report.rows.map((row) => {
    const keyName = names.get(row.group.key ?? "");
    return keyName === undefined ? row : { ...row, keyName };
  });
  return { ...report, rows };
}

/** Sums that are counts. */
const COUNTS = (Object.keys(SUMS) as (keyof UsageSums)[]).filter((name) => !isMoney(name));

function isMoney(name: keyof UsageSums): boolean {
  return ["cost", "reported", "estimated", "assumed", "untiered"].includes(name);
}

/** Amounts for accounts: dollars with all nine decimals. */
const AMOUNTS: readonly (readonly [string, (row: UsageSums) => number])[] = [
  ["spent", ({ cost }) => cost],
  ["certain", ({ cost, estimated, assumed }) => cost - estimated - assumed],
  ["estimated", ({ estimated }) => estimated],
  ["assumed", ({ assumed }) => assumed],
  ["reported", ({ reported }) => reported],
  ["untiered", ({ untiered }) => untiered],
];

/** One row for each group, with the time of the report. */
function csv(
  { rows, from, to }: ReturnType<typeof withKeyNames>,
  by: readonly (typeof USAGE_GROUPS)[number][],
): string {
  const time = (at: number | undefined) => (at === undefined ? "" : new Date(at).toISOString());
  const isByKey = by.includes("key");
  const lines = rows.map((row) => [
    ...[time(from), time(to)],
    ...by.map((group) => quote(row.group[group] ?? "")),
    ...(isByKey ? [quote(("keyName" in row && row.keyName) || "")] : []),
    ...COUNTS.map((name) => String(row[name])),
    ...AMOUNTS.map(([, of]) => (of(row) / 1e9).toFixed(9)),
  ]);
  const head = [
    "from",
    "to",
    ...by,
    ...(isByKey ? ["keyName"] : []),
    ...COUNTS,
    ...AMOUNTS.map(([name]) => name),
  ];
  return [head, ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

/** Spreadsheets run a cell that begins with one of these characters as a formula. */
function quote(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
