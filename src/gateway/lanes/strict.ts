/** Strict mode: weir refuses a request with losses, with a 400 that names them, in every lane. */
import type { Attempt, Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { writeLosses } from "../../core/loss-list.ts";
import type { Gateway } from "../types.ts";

/** Whether a call is strict: by the config for all calls, or by the client's `x-weir-strict` for this one. */
export function isStrict(call: Call, { strict }: Pick<Gateway, "strict">): boolean {
  return strict || call.headers.get("x-weir-strict") === "true";
}

/** @throws GatewayError `invalid-request` (`lossy_translation`) in strict mode if the attempt has losses */
export function refuseLosses(attempt: Attempt, gateway: Pick<Gateway, "strict">): void {
  const { call, target, losses } = attempt;
  const [first] = losses;
  if (!first || !isStrict(call, gateway)) return;
  throw new GatewayError(
    "invalid-request",
    `Strict mode: the provider ${target.provider.name} cannot receive this request without losses (${writeLosses(losses)}).`,
    { code: "lossy_translation", param: first.path },
  );
}
