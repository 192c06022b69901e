/** What the tools of a tape cost: the same sums as from the books, by the prices of the config. */
import { Call } from "../../../core/call.ts";
import { NO_USAGE, type Usage } from "../../../core/events.ts";
import type { Format } from "../../../core/format.ts";
import type { TapeEntry } from "../../../gateway/recording/entry.ts";
import { eventsOf } from "../../../gateway/recording/events.ts";
import type { PriceRule } from "../../../ledger/charge.ts";
import { chargeOf } from "../../../ledger/prices/charge-of.ts";
import { ToolLedger } from "./ledger.ts";
import { estimatedTokens, layoutOfLines } from "./lines.ts";
import { resultsIn } from "./note.ts";

export interface TapeHost {
  /** Those that the entries may be in, by id. */
  readonly formats: ReadonlyMap<string, Format>;
  /** The price of a target. @returns undefined if it is not known */
  priceOf(this: void, provider: string, model: string): PriceRule | undefined;
}

/** @param entries answers of models */
export function ledgerOfTape(entries: readonly TapeEntry[], { formats, priceOf }: TapeHost): ToolLedger {
  const ledger = new ToolLedger();
  for (const entry of entries) {
    const layout = layoutOfLines(entry.request.lines);
    const { tools, bytes, errors, called } = layout;
    if (tools.length === 0 && called.size === 0) continue;
    const usage: Usage = entry.usage ?? { ...NO_USAGE, input: estimatedTokens(entry.request.lines) };
    const rule = entry.from && priceOf(entry.from.provider, entry.from.model);
    const charge = entry.usage ? chargeOf({ reach: "sent", usage }, rule) : { cost: 0 };
    const calls = callsIn(entry, formats);
    ledger.add(
      {
        ...{ tools, bytes, isUnread: calls === undefined, errors: [...errors], calls: [...(calls ?? [])] },
        results: [...resultsIn(layout, bytes, usage)],
      },
      { usage, charge, rule, before: 0, at: 0 },
    );
  }
  return ledger;
}

/** Numbers of calls of tools in an answer. @returns undefined: it cannot be read */
function callsIn(
  entry: TapeEntry,
  formats: ReadonlyMap<string, Format>,
): ReadonlyMap<string, number> | undefined {
  const calls = new Map<string, number>();
  const client = formats.get(entry.format)?.client;
  if (!client) return undefined;
  if (entry.error && entry.ms === undefined) return calls;
  const call = new Call(`req_tape${entry.call}`, entry.format, new Headers());
  try {
    const { events, failure } = eventsOf(entry, { call, operation: "generate", client, body: {}, formats });
    for (const { event } of events)
      if (event.type === "block-start" && event.block.type === "tool-call") {
        const { name } = event.block;
        calls.set(name, (calls.get(name) ?? 0) + 1);
      }
    return failure && !entry.error ? undefined : calls;
  } catch {
    return undefined;
  }
}
