/** Adds up what tools cost in calls, to the nano-dollar. */
import type { Nano } from "../../../ledger/money.ts";
import type { Charge, PriceRule } from "../../../ledger/charge.ts";
import type { Usage } from "../../../core/events.ts";
import {
  addClasses,
  type Classes,
  noClasses,
  partsOf,
  PromptTokens,
  sumOf,
  TokenPrices,
} from "./attribute.ts";
import { mergedName, splitName } from "../bridge/names.ts";
import type { ToolSize } from "./layout.ts";

/** What the books, or a tape, know of the tools of a call. */
export interface ToolCosts {
  /** In the order of the request; undefined: which ones it carried is not known. */
  readonly tools: readonly ToolSize[] | undefined;
  /** Size of the prompt. Bytes. */
  readonly bytes: number;
  /** Tokens of the results in the conversation, by tool. */
  readonly results: readonly (readonly [tool: string, tokens: Classes])[];
  /** New results that say that the tool failed. */
  readonly errors: readonly (readonly [tool: string, count: number])[];
  /** Calls of tools in the answer. */
  readonly calls: readonly (readonly [tool: string, count: number])[];
  /** The answer may call tools that weir could not read. */
  readonly isUnread: boolean;
}

/** What was used and charged for a call: the attempt that answered, and the charges of the others. */
export interface Paid {
  readonly usage: Usage;
  readonly charge: Pick<Charge, "cost">;
  /** The prices of the charge; absent: how it is divided is not known. */
  readonly rule: PriceRule | undefined;
  /** Nano-dollars of attempts before. */
  readonly before: Nano;
  /** When the call began. Milliseconds since 1970. */
  readonly at: number;
}

/** A tool in all calls. */
export interface ToolRow {
  readonly tool: string;
  isHosted: boolean;
  /** Calls that carried its definition. */
  carried: number;
  definition: Classes;
  result: Classes;
  definitionCost: Classes;
  resultCost: Classes;
  /** Calls of the tool, results with errors, and the price of the calls that weir ran. */
  uses: number;
  errors: number;
  ran: Nano;
  /** A conversation has a call of it, or may have: it is in use though `uses` does not count it. */
  isSeen: boolean;
  firstAt: number;
  lastAt: number;
}

/** What belongs to no tool. */
export interface RestRow {
  tokens: Classes;
  cost: Classes;
  /** Output, searches, and charges that are not known to be input. */
  other: Nano;
}

/** The sums of calls with tools. */
export class ToolLedger {
  readonly rows = new Map<string, ToolRow>();
  readonly rest: RestRow = { tokens: noClasses(), cost: noClasses(), other: 0 };
  /** Calls with tools, their input tokens and their charges. */
  calls = 0;
  tokens = 0;
  cost: Nano = 0;
  /** Calls of which the definitions are not known: they are in the rest. */
  unknown = 0;
  /** Calls whose answer could not be read. */
  unread = 0;

  /** Adds a call of a model. */
  add(costs: ToolCosts, { usage, charge, rule, before, at }: Paid): void {
    const { rest, ...parts } = partsOf(charge, usage, rule);
    const all = { uncached: usage.input, write: usage.cacheWrite, read: usage.cacheRead };
    const prices = new TokenPrices(all, parts);
    const left = { ...all };
    const spent = noClasses();
    const take = (tokens: Classes): Classes => {
      const cost = prices.take(tokens);
      addClasses(spent, cost);
      for (const one of Object.keys(left) as (keyof Classes)[]) left[one] -= tokens[one];
      return cost;
    };
    this.#definitions(costs, new PromptTokens(costs.bytes, usage), at, take);
    for (const [tool, tokens] of costs.results) {
      const row = this.#row(tool, at);
      addClasses(row.result, tokens);
      addClasses(row.resultCost, take(tokens));
      row.isSeen = true;
    }
    for (const [tool, count] of costs.errors) this.#row(tool, at).errors += count;
    for (const [tool, count] of costs.calls) this.#row(tool, at).uses += count;
    addClasses(this.rest.tokens, left);
    for (const one of Object.keys(spent) as (keyof Classes)[]) this.rest.cost[one] += parts[one] - spent[one];
    this.rest.other += rest + before;
    this.calls++;
    this.tokens += sumOf(all);
    this.cost += charge.cost + before;
  }

  #definitions(
    { tools, isUnread }: ToolCosts,
    prompt: PromptTokens,
    at: number,
    take: (tokens: Classes) => Classes,
  ): void {
    if (isUnread) this.unread++;
    if (!tools) this.unknown++;
    let place = 0;
    for (const { name, bytes, isHosted } of tools ?? []) {
      const tokens = prompt.between(place, (place += bytes));
      const row = this.#row(name, at);
      row.carried++;
      row.isHosted ||= isHosted === true;
      row.isSeen ||= isUnread;
      addClasses(row.definition, tokens);
      addClasses(row.definitionCost, take(tokens));
    }
  }

  /** Adds calls of a tool that weir ran, by its name at `/mcp`: {@link ToolRow.uses} of the models are among them. */
  addRuns(name: string, runs: { count: number; errors: number; cost: Nano; at: number }): void {
    const found = [...this.rows.values()].filter(({ tool }) => isNamed(tool, name));
    // Clients have names of their own for one tool: each has its calls, and one of them has the price.
    const row = found.toSorted((a, b) => b.uses - a.uses)[0] ?? this.#row(name, runs.at);
    const uses = found.reduce((sum, one) => sum + one.uses, 0);
    row.uses += Math.max(0, runs.count - uses);
    row.errors = Math.max(row.errors, runs.errors);
    row.ran += runs.cost;
    for (const one of found) one.isSeen = true;
    this.cost += runs.cost;
  }

  #row(tool: string, at: number): ToolRow {
    let row = this.rows.get(tool);
    if (!row) {
      const counts = { carried: 0, uses: 0, errors: 0, ran: 0, isHosted: false, isSeen: false };
      const sums = { definition: noClasses(), result: noClasses() };
      const costs = { definitionCost: noClasses(), resultCost: noClasses() };
      this.rows.set(tool, (row = { tool, ...counts, ...sums, ...costs, firstAt: at, lastAt: at }));
    }
    row.firstAt = Math.min(row.firstAt, at);
    row.lastAt = Math.max(row.lastAt, at);
    return row;
  }
}

/**
 * Whether a client's name for a tool is that of a tool of weir: clients put their name for the server in front.
 * @param name `SERVER__TOOL`, the whole name
 */
export function isNamed(tool: string, name: string): boolean {
  const { server, rest } = splitName(name) ?? { server: "", rest: name };
  return [name, mergedName(server, rest)].some((one) => tool === one || tool.endsWith(`__${one}`));
}
