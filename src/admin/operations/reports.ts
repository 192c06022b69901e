/** Reports: usage, calls, prices, what another model would have cost. */
import { Type } from "@sinclair/typebox";
import { CHARGE_STATES } from "../../ledger/charge.ts";
import { isWithin } from "../../ledger/keys/path.ts";
import type { KeyEntry } from "../../ledger/policy.ts";
import {
  type Filter,
  USAGE_GROUPS,
  type UsageReport,
  type UsageSums,
} from "../../keeper/books/reports/types.ts";
import { findKey } from "../entries.ts";
import { invalid, notFound } from "../errors.ts";
import { type AdminRequest, operation } from "../operation.ts";
import { FILTER, mapOf, nano, PAGE, pageOf, request, time, words } from "../schemas.ts";

const REFUSALS = ["rate", "tokens", "concurrency", "budget", "scope", "price"] as const;

const SUMS = {
  calls: Type.Integer(),
  failed: Type.Integer(),
  refused: Type.Integer({ description: "By a rule of the gateway." }),
  attempts: Type.Integer(),
  input: Type.Integer({ description: "Tokens, without those read from or written to a cache." }),
  cacheRead: Type.Integer(),
  cacheWrite: Type.Integer(),
  cacheWrite1h: Type.Integer({ description: "Part of `cacheWrite`." }),
  output: Type.Integer({ description: "Tokens, with those of reasoning." }),
  reasoning: Type.Integer(),
  searches: Type.Integer(),
  cost: nano("All charges."),
  reported: nano("Part of `cost`: the provider's own figure."),
  estimated: nano("Part of `cost`: the counts are partial."),
  assumed: nano("Part of `cost`: it cannot be known."),
  untiered: nano("Part of `cost`: the provider has not said which service tier it served."),
  unpriced: Type.Integer({ description: "Attempts with tokens and without a price." }),
  ms: Type.Number({ description: "Milliseconds of all calls together." }),
  firstMs: Type.Number({ description: "Milliseconds until the first event, of all calls together." }),
};

const Usage = Type.Object({
  rows: Type.Array(
    Type.Object({
      group: mapOf(Type.String(), "By name of the group. A key is its id."),
      keyName: Type.Optional(Type.String({ description: "Name of the key, where rows are by key." })),
      ...SUMS,
    }),
  ),
  total: Type.Object(SUMS),
  from: Type.Optional(time("The sums begin here: the beginning of an hour or a day.")),
  to: Type.Optional(time("")),
  completeFrom: Type.Optional(time("The sums of earlier calls are deleted.")),
});

const Attempt = Type.Object({
  provider: Type.String(),
  deployment: Type.String(),
  model: Type.String(),
  class: Type.String(),
  ms: Type.Number(),
  usage: Type.Object({}),
  charge: Type.Object({
    state: words(CHARGE_STATES),
    cost: nano(""),
    price: Type.Optional(Type.String()),
  }),
  held: nano("Most that was held for it."),
  accounts: Type.Array(Type.String()),
});

const CallEntry = Type.Object(
  {
    id: Type.String(),
    startedAt: time(""),
    ms: Type.Number({ description: "Milliseconds." }),
    format: Type.String(),
    model: Type.String(),
    stream: Type.Boolean(),
    status: Type.Integer(),
    outcome: Type.String(),
    attempts: Type.Array(Attempt),
  },
  { description: "The record of a call. It contains no prompt and no answer." },
);

const Price = Type.Object(
  { ref: Type.String(), provider: Type.String(), model: Type.String(), source: Type.String() },
  { description: "Prices are pico-dollars a token: $2.50 a million tokens is 2500000." },
);

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
    errors: ["not_found", "not_permitted"],
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
    path: "/admin/v1/calls",
    id: "listCalls",
    summary: "Records of calls, the newest first",
    description:
      "A search looks at a limited number of rows. `bounded: true` says that it ended there; `next` goes on.",
    access: "read",
    query: request({
      ...PAGE,
      ...FILTER,
      failed: Type.Optional(Type.Boolean()),
      slowerThan: Type.Optional(Type.Integer({ minimum: 0, description: "Milliseconds." })),
      state: Type.Optional(words(CHARGE_STATES, "State of a charge.")),
      refused: Type.Optional(words(REFUSALS, "Why the gateway refused the call.")),
    }),
    answer: {
      name: "Calls",
      schema: Type.Object({
        calls: Type.Array(CallEntry),
        next: Type.Optional(Type.String()),
        bounded: Type.Boolean(),
      }),
    },
    errors: ["not_found"],
    async handle(given) {
      const { limit, after, failed, slowerThan, state, refused, ...filter } = given.query;
      const page = await given.books.calls({
        ...filterOf(given, filter),
        limit,
        ...present({ after, failed, slowerThan, state, refused }),
      });
      return { json: page };
    },
  }),
  operation({
    method: "GET",
    path: "/admin/v1/calls/{id}",
    id: "getCall",
    summary: "The record of one call",
    access: "read",
    answer: { name: "Call", schema: CallEntry },
    errors: ["not_found"],
    async handle({ books, caller, params }) {
      const call = await books.call(params["id"]!);
      // A call without a key has no path: it belongs to the whole gateway.
      if (!call || !isWithin(call.path ?? "/", caller.path)) throw notFound("call", params["id"]!);
      return { json: call };
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
    }),
    answer: { name: "Prices", schema: pageOf("prices", Price) },
    handle: async ({ books, query }) => ({ json: await books.prices(query) }),
  }),
  operation({
    method: "GET",
    path: "/admin/v1/prices/missing",
    id: "missingPrices",
    summary: "Models that were used and have no price",
    access: "read",
    wholeGateway: true,
    answer: {
      name: "MissingPrices",
      schema: Type.Object({
        models: Type.Array(
          Type.Object({ provider: Type.String(), model: Type.String(), calls: Type.Integer() }),
        ),
      }),
    },
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
        description: "Another `provider/model` for each `provider/model`.",
      }),
    }),
    answer: {
      name: "WhatIf",
      schema: Type.Object({
        calls: Type.Integer(),
        now: nano("What the calls cost."),
        then: nano("What they would have cost."),
        rows: Type.Array(
          Type.Object({
            from: Type.String(),
            to: Type.String(),
            calls: Type.Integer(),
            now: nano(""),
            then: Type.Optional(nano("")),
            why: Type.Optional(Type.String()),
          }),
        ),
      }),
    },
    errors: ["not_found"],
    async handle(given) {
      const { map, ...filter } = given.body;
      return { json: await given.books.whatIf({ ...filterOf(given, filter), map }) };
    },
  }),
];

/** @throws AdminError 400, 404 */
function filterOf(
  given: Pick<AdminRequest, "books" | "caller">,
  { key, ...filter }: Omit<Filter, "within">,
): Filter {
  const { from, to } = filter;
  if (from !== undefined && to !== undefined && to < from) throw invalid("to is before from.", "?to");
  return {
    ...filter,
    within: given.caller.path,
    ...(key !== undefined && { key: findKey(given, key).id }),
  };
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

/** Without the members that are undefined. */
function present<Members extends object>(
  members: Members,
): { [Name in keyof Members]: NonNullable<Members[Name]> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Members]: NonNullable<Members[Name]> };
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
