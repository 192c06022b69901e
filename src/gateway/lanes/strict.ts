/** Strict mode: a loss is a 400 that names it, in every lane. */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import { writeLosses } from "../../core/loss.ts";
import type { Gateway } from "../types.ts";

/** Whether losses of a call are refused: by the config for all calls, or by the client for this one. */
export function isStrict(call: Call, { strict }: Pick<Gateway, "strict">): boolean {
  return strict || call.headers.get("x-weir-strict") === "true";
}

/** @throws GatewayError `invalid-request` (`lossy_translation`) in strict mode when the call has losses. */
export function refuseLosses(call: Call, gateway: Pick<Gateway, "strict">): void {
  const [first] = call.losses;
  if (!first || !isStrict(call, gateway)) return;
  throw new GatewayError(
    "invalid-request",
    `Strict mode: the provider ${call.target!.provider.name} cannot take this request as it is (${writeLosses(call.losses)}).`,
    { code: "lossy_translation", param: first.path },
  );
}
