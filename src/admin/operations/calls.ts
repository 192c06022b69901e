/** Calls: their records, and the sums of what a filter finds. */
import type { Static, TObject } from "@sinclair/typebox";
import type { CallFilter } from "../../keeper/reports/shapes.ts";
import type { CallRecord } from "../../ledger/record.ts";
import { notFound } from "../../operator/errors.ts";
import { filterOf, seesCall } from "../filter.ts";
import { type AdminRequest, answers } from "../operation.ts";
import { CALL_FILTER, getCall, listCalls, summarizeCalls } from "../../operator/calls.ts";

type Given = Pick<AdminRequest, "books" | "caller">;

export const callOperations = [
  answers(listCalls, async (given) => {
    const { limit, after, facts: _facts, ...filter } = given.query;
    const page = await given.books.calls({
      ...callFilterOf(given, filter),
      limit,
      ...(after !== undefined && { after }),
    });
    return { json: { ...page, calls: withKeyNames(page.calls, given) } };
  }),
  answers(summarizeCalls, async (given) => {
    const { slices, ...filter } = given.query;
    return { json: await given.books.summary({ ...callFilterOf(given, filter), slices }) };
  }),
  answers(getCall, async (given) => {
    const { books, params } = given;
    const call = await books.call(params.id);
    if (!call || !seesCall(given, call)) throw notFound("call", params.id);
    return { json: withKeyNames([call], given)[0]! };
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
