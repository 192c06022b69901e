/** `weir usage --assumed`: charges and amounts that cannot be known, one by one. */
import type { Answers, Asking, CallEntry, Operations } from "../../operator/index.ts";
import { table } from "../terminal.ts";
import { type AdminApi, listAll } from "./api.ts";
import { showMoney, showTime } from "./show.ts";

export interface Assumed {
  /** Calls with an attempt that was sent and brought nothing back. */
  calls: readonly CallEntry[];
  /** Absent where only some calls were asked for: these amounts belong to no call. */
  amounts?: Answers["GET /assumptions"]["entries"];
}

/** @param query of the calls @param ofAll the query names no key, path, tag, model or provider */
export async function readAssumed(
  api: AdminApi,
  query: NonNullable<Asking<Operations["GET /calls"]>["query"]>,
  ofAll: boolean,
): Promise<Assumed> {
  const calls = await listAll(api, "GET /calls", "calls", { ...query, state: "assumed" });
  if (!ofAll) return { calls };
  const { from = 0, to = Infinity } = query;
  const all = await listAll(api, "GET /assumptions", "entries");
  return { calls, amounts: all.filter(({ at }) => at >= Number(from) && at < Number(to)) };
}

export function textOfAssumed({ calls, amounts = [] }: Assumed): string {
  const attempts = calls.flatMap((call) =>
    call.attempts
      .filter(({ charge }) => charge.state === "assumed")
      .map(({ provider, model, charge, class: end }) => ({
        cells: [showTime(call.startedAt), showMoney(charge.cost), `${provider}/${model}`, end, call.id],
        cost: charge.cost,
      })),
  );
  const total = [...attempts.map(({ cost }) => cost), ...amounts.map(({ amount }) => amount)];
  if (total.length === 0) return "Nothing was assumed.";
  const parts: string[] = [];
  if (attempts.length > 0)
    parts.push(table([["time", "amount", "model", "result", "call"], ...attempts.map(({ cells }) => cells)]));
  if (amounts.length > 0) {
    const rows = amounts.map(({ at, amount, budget, why }) => [showTime(at), showMoney(amount), budget, why]);
    parts.push(table([["time", "amount", "budget", "because"], ...rows]));
  }
  const sum = total.reduce((before, amount) => before + amount, 0);
  return [
    ...parts,
    `${showMoney(sum)} were assumed. weir reconcile compares an invoice with the books.`,
  ].join("\n\n");
}
