/** Strict mode: weir refuses a request with losses, with a 400 that names them, in every lane. */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { writeLosses } from "../../core/loss.ts";
import type { Gateway } from "../types.ts";

/** Whether a call is strict: by the config for all calls, or by the client's `x-weir-strict` for this one. */
export function isStrict(call: Call, { strict }: Pick<Gateway, "strict">): boolean {
  return strict || call.headers.get("x-weir-strict") === "true";
}

/** @throws GatewayError `invalid-request` (`lossy_translation`) in strict mode if the call has losses */
export function refuseLosses(call: Call, gateway: Pick<Gateway, "strict">): void {
  const [first] = call.losses;
  if (!first || !isStrict(call, gateway)) return;
  throw new GatewayError(
    "invalid-request",
    `Strict mode: the provider ${call.target!.provider.name} cannot receive this request without losses (${writeLosses(call.losses)}).`,
    { code: "lossy_translation", param: first.path },
  );
}
