/** What a request of a caller may cost before it is a call: with the model that would serve it first. */
import { Attempt, Call } from "../core/call.ts";
import { type CostBound, DISCOUNT, type RequestSize } from "../core/ledger.ts";
import type { Principal } from "../core/principal.ts";
import { planFor, prepareModel } from "./access.ts";
import { rank } from "./routing/plan.ts";
import type { Gateway } from "./types.ts";

export interface BoundAsk {
  /** Id of the client's format, or of its dialect of embeddings. */
  readonly format: string;
  /** As the client writes it. */
  readonly model: string;
  readonly size: RequestSize;
  readonly embeds: boolean;
  /** Who pays; undefined while calls need no key. */
  readonly principal: Principal | undefined;
  /** The share of the output that is expected, from 0 to 1. */
  readonly outputShare: number;
  /** What is taken off the prices, from 0 to 1. */
  readonly discount: number;
}

/** @returns undefined while the books do not say @throws GatewayError for a model that nothing serves, or that the caller may not use */
export async function boundOf(
  ask: BoundAsk,
  { registry, ledger }: Pick<Gateway, "registry" | "ledger">,
): Promise<CostBound | undefined> {
  const { format, model, size, embeds, principal, outputShare, discount } = ask;
  const call = new Call("bound", format, new Headers());
  if (principal) call.principal = principal;
  call.model = model;
  DISCOUNT.set(call, discount);
  await prepareModel(call, model, registry);
  const plan = planFor(call, call.servingModel, registry, format, embeds ? "embed" : undefined);
  const attempt = new Attempt(call, rank(plan.choices, () => "")[0]!.target);
  return ledger.bound?.(attempt, { size: () => size }, outputShare);
}
