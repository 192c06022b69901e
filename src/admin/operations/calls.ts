/** Calls: their records, and the sums of what a filter finds. */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import type { CallFilter } from "../../keeper/reports/types.ts";
import type { CallRecord } from "../../ledger/record.ts";
import { notFound } from "../../operator/errors.ts";
import { filterOf, seesCall } from "../filter.ts";
import { type AdminRequest, operation } from "../operation.ts";
import { PAGE, request } from "../../operator/shapes.ts";
import { CALL_FILTER, CallEntry, Calls, CallsSummary } from "../../operator/calls.ts";

type Given = Pick<AdminRequest, "books" | "caller">;

export const callOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/calls",
    id: "listCalls",
    summary: "Records of calls, the newest first",
    description:
      "A search looks at a limited number of rows. `bounded: true` says that it ended there; `next` goes on.",
    access: "read",
    query: request({ ...PAGE, ...CALL_FILTER }),
    answer: { name: "Calls", schema: Calls },
    errors: ["not_found"],
    async handle(given) {
      const { limit, after, ...filter } = given.query;
      const page = await given.books.calls({
        ...callFilterOf(given, filter),
        limit,
        ...(after !== undefined && { after }),
      });
      return { json: { ...page, calls: withKeyNames(page.calls, given) } };
    },
  }),
  operation({
    method: "GET",
    path: "/admin/v1/calls/summary",
    id: "summarizeCalls",
    summary: "Sums of the calls that a filter finds, and their slices over time",
    description:
      "Where a filter without members of single calls finds more calls than one answer may look at, the sums are those of whole hours; with such members, `completeFrom` says where the search ended.",
    access: "read",
    query: request({
      ...CALL_FILTER,
      slices: Type.Integer({
        minimum: 1,
        maximum: 400,
        default: 60,
        description: "Most slices of the answer.",
      }),
    }),
    answer: { name: "CallsSummary", schema: CallsSummary },
    errors: ["not_found"],
    async handle(given) {
      const { slices, ...filter } = given.query;
      return { json: await given.books.summary({ ...callFilterOf(given, filter), slices }) };
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
    async handle(given) {
      const { books, params } = given;
      const call = await books.call(params["id"]!);
      if (!call || !seesCall(given, call)) throw notFound("call", params["id"]!);
      const [entry] = withKeyNames([call], given);
      return { json: books.captures.has(call.id) ? { ...entry, captured: true } : entry };
    },
  }),
];

/** The filter of a request. @throws AdminError 400, 404 */
export function callFilterOf(given: Given, { q, ...query }: Static<TObject<typeof CALL_FILTER>>): CallFilter {
  const filter = filterOf(given, query);
  if (q === undefined) return filter;
  const keys = given.books.policy().keys.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
  return { ...filter, text: { text: q, keys: keys.map(({ id }) => id) } };
}

/** Adds the names of keys. */
export function withKeyNames(calls: readonly CallRecord[], { books }: Pick<Given, "books">) {
  const names = new Map(books.policy().keys.map(({ id, name }) => [id, name]));
  return calls.map((call) => {
    const keyName = call.key === undefined ? undefined : names.get(call.key);
    return keyName === undefined ? call : { ...call, keyName };
  });
}
