/** Reports: usage, prices, what another model would have cost. */
import { Type } from "@sinclair/typebox";
import { byPattern } from "../../core/model-sets.ts";
import type { KeyEntry } from "../../ledger/policy.ts";
import { USAGE_GROUPS, type UsageReport, type UsageSums } from "../../keeper/reports/types.ts";
import { filterOf } from "../filter.ts";
import { expectSets } from "../model-sets.ts";
import { type AdminRequest, operation } from "../operation.ts";
import { FILTER, PAGE, request, words } from "../../operator/shapes.ts";
import { MissingPrices, Prices, SUMS, UsageReport as Usage, WhatIf } from "../../operator/reports.ts";

export const reportOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/usage",
    id: "usage",
    summary: "Sums of calls, tokens and money",
    description: "The answer is CSV if the request accepts `text/csv`.",
    access: "read",
    query: request({
      by: Type.Array(words(USAGE_GROUPS), {
        default: [],
        maxItems: 3,
        uniqueItems: true,
        description: `Groups, with commas: ${USAGE_GROUPS.join(", ")}.`,
      }),
      ...FILTER,
    }),
    answer: { name: "Usage", schema: Usage },
    errors: ["not_found", "not_permitted", "too_many_rows"],
    async handle(given) {
      const { by, ...filter } = given.query;
      const report = await given.books.usage({ ...filterOf(given, filter), by });
      const wantsCsv = given.headers.get("accept")?.includes("text/csv") === true;
      return wantsCsv
        ? { text: csv(report, by), type: "text/csv; charset=utf-8" }
        : { json: withKeyNames(report, given.books.policy().keys) };
    },
  }),
  operation({
    method: "GET",
    path: "/admin/v1/prices",
    id: "listPrices",
    summary: "The price rules in use",
    access: "read",
    query: request({
      ...PAGE,
      q: Type.Optional(Type.String({ maxLength: 200, description: "Part of `provider/model`." })),
      of: Type.Optional(
        Type.Array(Type.String({ pattern: "^[^/]{1,100}/.{1,300}$", "x-expects": "provider/model" }), {
          maxItems: 100,
          uniqueItems: true,
          description:
            "`provider/model`, with commas: their prices alone, also those that a pattern of the config sets; instead of a page.",
        }),
      ),
    }),
    answer: { name: "Prices", schema: Prices },
    handle: async ({ books, query }) => ({ json: await books.prices(query) }),
  }),
  operation({
    method: "GET",
    path: "/admin/v1/prices/missing",
    id: "missingPrices",
    summary: "Models that were used and have no price",
    access: "read",
    wholeGateway: true,
    answer: { name: "MissingPrices", schema: MissingPrices },
    handle: async ({ books }) => ({ json: { models: await books.missingPrices() } }),
  }),
  operation({
    method: "POST",
    path: "/admin/v1/whatif",
    id: "whatIf",
    summary: "What the calls of a time would have cost with other models",
    access: "read",
    body: request({
      ...FILTER,
      map: Type.Record(Type.String({ maxLength: 300 }), Type.String({ maxLength: 300 }), {
        description: "Another `provider/model` for each `provider/model`, pattern or set (`@cheap`).",
      }),
    }),
    answer: { name: "WhatIf", schema: WhatIf },
    errors: ["not_found"],
    async handle(given) {
      const { map, ...filter } = given.body;
      return { json: await given.books.whatIf({ ...filterOf(given, filter), map: mapOf(given, map) }) };
    },
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

const COLUMNS = Object.keys(SUMS) as (keyof UsageSums)[];

/** One row for each group; amounts are nano-dollars. */
function csv({ rows }: UsageReport, by: readonly (typeof USAGE_GROUPS)[number][]): string {
  const lines = rows.map((row) => [
    ...by.map((group) => quote(row.group[group] ?? "")),
    ...COLUMNS.map((column) => String(row[column])),
  ]);
  return [[...by, ...COLUMNS], ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

/** Spreadsheets run a cell that begins with one of these characters as a formula. */
function quote(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
