/** Calls: their records, and the sums of what a filter finds. */
import type { Static, TObject } from "@sinclair/typebox";
import type { CallFilter, Tried, TriedFilter } from "../../keeper/reports/shapes.ts";
import type { RefusedBy } from "../../core/refusal.ts";
import type { CallRecord } from "../../ledger/record.ts";
import { notFound } from "../../operator/errors.ts";
import { dollarsBound, statusesOf, timeBound, tokensBound } from "../amounts.ts";
import { seesSubject } from "../entries.ts";
import { filterOf, seesCall } from "../filter.ts";
import { type AdminRequest, answers } from "../operation.ts";
import { CALL_FILTER, getCall, listCalls, summarizeCalls } from "../../operator/calls.ts";

type Given = Pick<AdminRequest, "books" | "caller">;

export const callOperations = [
  answers(listCalls, async (given) => {
    const { limit, after, sort, facts: _facts, ...filter } = given.query;
    const page = await given.books.calls({
      ...callFilterOf(given, filter),
      limit,
      ...(after !== undefined && { after }),
      ...(sort !== undefined && { sort }),
    });
    return { json: { ...page, calls: shownCalls(page.calls, given) } };
  }),
  answers(summarizeCalls, async (given) => {
    const { slices, ...filter } = given.query;
    return { json: await given.books.summary({ ...callFilterOf(given, filter), slices }) };
  }),
  answers(getCall, async (given) => {
    const { books, params } = given;
    const call = await books.call(params.id);
    if (!call || !seesCall(given, call)) throw notFound("call", params.id);
    return { json: shownCalls([call], given)[0]! };
  }),
];

type CallQuery = Static<TObject<typeof CALL_FILTER>>;

/** The filter of a request. @throws AdminError 400, 404 */
export function callFilterOf(given: Given, query: CallQuery): CallFilter {
  const wanted: Record<string, unknown> = {};
  const others: Record<string, unknown>[] = [];
  for (const [name, value] of Object.entries(query))
    if (!name.startsWith("-")) wanted[name] = value;
    else others.push({ [name.slice(1)]: value });
  const not = others.map((other) => plainFilterOf(given, other as CallQuery));
  return { ...plainFilterOf(given, wanted as CallQuery), ...(not.length > 0 && { not }) };
}

function plainFilterOf(
  given: Given,
  { q, status, cost, took, tokens, tried, ...query }: CallQuery,
): CallFilter {
  const bounds = { cost: dollarsBound(cost), took: timeBound(took), tokens: tokensBound(tokens) };
  const filter = {
    ...filterOf(given, query),
    ...(status !== undefined && { status: statusesOf(status) }),
    ...(tried !== undefined && { tried: triedOf(tried) }),
    ...Object.fromEntries(Object.entries(bounds).filter(([, bound]) => bound)),
  };
  if (q === undefined) return filter;
  const keys = given.books.policy().keys.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
  return { ...filter, text: { text: q, keys: keys.map(({ id }) => id) } };
}

/** @param text in the form that the contract has checked: `5xx`, `5xx@openai` */
function triedOf(text: string): TriedFilter {
  const [group, at] = text.split(/@(.*)/s) as [Tried, string | undefined];
  return { group, ...(at !== undefined && { at }) };
}

/** @param seen ids of the rules that the caller may see */
function withoutAmounts(call: CallRecord, seen: ReadonlySet<string>): CallRecord {
  const { refusedBy: by } = call as { refusedBy?: RefusedBy };
  if (!by || seen.has(by.id)) return call;
  const { limit: _limit, needed: _needed, left: _left, ...rest } = by;
  return { ...call, refusedBy: rest } as CallRecord;
}

/** Adds the names of keys, and leaves out the amounts of budgets and limits that the caller may not see. */
export function shownCalls(calls: readonly CallRecord[], { books, caller }: Given) {
  const policy = books.policy();
  const names = new Map(policy.keys.map(({ id, name }) => [id, name]));
  const seen = new Set(
    [...policy.budgets, ...policy.rates]
      .filter(({ on }) => seesSubject(caller, on, policy))
      .map(({ id }) => id),
  );
  return calls.map((record) => {
    const call = caller.path === "/" ? record : withoutAmounts(record, seen);
    const keyName = call.key === undefined ? undefined : names.get(call.key);
    return keyName === undefined ? call : { ...call, keyName };
  });
}
