/** Calls that are recorded on a tape, or answered from one. */
import type { Call } from "../core/call.ts";
import { GatewayError } from "../core/error.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";
import type { Opened } from "./lanes/lane.ts";
import type { Around, EntryOperation } from "./seams.ts";

/** A request that weir has read and validated, before weir looks for a provider. */
export interface TapedCall {
  call: Call;
  operation: EntryOperation;
  client: ClientCodec;
  body: JsonObject;
  formats: ReadonlyMap<string, Format>;
}

/** Records calls, or answers them in place of providers. */
export interface CallTape {
  /**
   * @param open finds a provider and opens its answer, as without a tape
   * @throws GatewayError what `open` throws, or `not_on_tape`
   */
  take(taped: TapedCall, open: () => Promise<Opened>): Promise<Opened>;
}

/** The calls of clients pass the tape; what plugins ask is a part of them. */
export function aroundTape(tape: CallTape): Around {
  return (entry, next) => {
    const { call, operation, arrival, registry } = entry;
    if (!arrival) return next();
    const { formats } = registry;
    return tape.take({ call, operation, client: arrival.client, body: entry.body, formats }, () => next());
  };
}

/** The error for an operation that needs more than an answer. */
export function notOnTape(): GatewayError {
  return new GatewayError("invalid-request", "A tape answers no operations on stored answers.", {
    code: "not_on_tape",
  });
}
