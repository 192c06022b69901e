/** Computes what tools cost from the records of calls. */
import type { AdminBooks } from "../../../admin/books.ts";
import { filterOf } from "../../../admin/filter.ts";
import { answers } from "../../../admin/operation.ts";
import type { PriceRule } from "../../../ledger/charge.ts";
import type { AttemptRecord, CallRecord } from "../../../ledger/record.ts";
import { toolCall, toolUse } from "../columns.ts";
import { toolsPart } from "../operator/slots.ts";
import { readHeads } from "../pins/rows.ts";
import { toolCosts } from "./contracts.ts";
import { ToolLedger } from "./ledger.ts";
import { reportOf } from "./report.ts";
import { readSets } from "./rows.ts";

/** Calls of one page, and most of all. */
const PAGE = 500;
const MOST_CALLS = 100_000;

export const costOperations = [
  answers(toolCosts, async (given) => {
    const { books } = given;
    const filter = filterOf(given, given.query);
    const ledger = new ToolLedger();
    const runs = new Map<string, { count: number; errors: number; cost: number; at: number }>();
    let [after, seen, oldest, searchedTo]: [string?, number?, number?, number?] = [];
    do {
      const page = await books.calls({ ...filter, limit: PAGE, ...(after !== undefined && { after }) });
      await addCalls(ledger, books, page.calls);
      for (const call of page.calls) addRun(runs, call);
      seen = (seen ?? 0) + page.calls.length;
      oldest = page.calls.at(-1)?.startedAt ?? oldest;
      after = page.next;
      if (seen >= MOST_CALLS && after !== undefined) searchedTo = oldest;
    } while (after !== undefined && searchedTo === undefined);
    for (const [name, run] of runs) ledger.addRuns(name, run);
    const report = reportOf(ledger, await serversOf(books));
    return { json: { ...report, ...(searchedTo !== undefined && { searchedTo }) } };
  }),
];

/** The servers of the config; without a gateway those that the store knows. */
async function serversOf(books: AdminBooks): Promise<string[]> {
  const known =
    toolsPart.get(books.offers)?.servers() ??
    (await books.read(readHeads)).map(({ server }) => ({ name: server }));
  return [...new Set(known.map(({ name }) => name))];
}

async function addCalls(ledger: ToolLedger, books: AdminBooks, calls: readonly CallRecord[]): Promise<void> {
  const own = calls.flatMap((call) => {
    const [use, last] = [toolUse.in(call), call.attempts.at(-1)];
    return use && last ? [{ call, use, last }] : [];
  });
  if (own.length === 0) return;
  const sets = await books.read((sql) => readSets(sql, [...new Set(own.map(({ use }) => use.set))]));
  const rules = await rulesOf(
    books,
    own.map(({ last }) => last),
  );
  for (const { call, use, last } of own)
    ledger.add(
      {
        ...{ tools: sets.get(use.set), bytes: use.bytes, isUnread: use.unread === true },
        ...{ errors: use.errors ?? [], calls: use.calls ?? [] },
        results: (use.results ?? []).map(([tool, uncached, write, read]) => [
          tool,
          { uncached, write, read },
        ]),
      },
      {
        ...{ usage: last.usage, charge: last.charge, rule: rules(last), at: call.startedAt },
        before: call.attempts.slice(0, -1).reduce((sum, { charge }) => sum + charge.cost, 0),
      },
    );
}

/** The prices of charges. Where a provider named the amount itself, those of the price book say how it is divided. */
async function rulesOf(
  books: AdminBooks,
  attempts: readonly AttemptRecord[],
): Promise<(attempt: AttemptRecord) => PriceRule | undefined> {
  const refs = [...new Set(attempts.flatMap(({ charge }) => charge.price ?? []))];
  const rules = await books.rules(refs);
  const reported = attempts.filter(({ charge }) => charge.state === "reported");
  const of = [...new Set(reported.map(targetOf))];
  const { prices } = of.length === 0 ? { prices: [] } : await books.prices({ of, limit: of.length });
  const byTarget = new Map(prices.map((rule) => [`${rule.provider}/${rule.model}`, rule]));
  return (attempt) =>
    attempt.charge.price === undefined
      ? attempt.charge.state === "reported"
        ? byTarget.get(targetOf(attempt))
        : undefined
      : rules.get(attempt.charge.price);
}

const targetOf = ({ provider, model }: AttemptRecord) => `${provider}/${model}`;

/** A call of a tool that weir ran. */
function addRun(
  runs: Map<string, { count: number; errors: number; cost: number; at: number }>,
  call: CallRecord,
): void {
  const facts = toolCall.in(call);
  if (!facts) return;
  const run = runs.get(call.model) ?? { count: 0, errors: 0, cost: 0, at: call.startedAt };
  run.count++;
  if (facts.outcome === "tool_error" || facts.outcome === "error") run.errors++;
  run.cost += call.attempts.reduce((sum, { charge }) => sum + charge.cost, 0);
  runs.set(call.model, run);
}
