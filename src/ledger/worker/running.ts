/** A call that runs, as the console shows it. */
import type { Call } from "../../core/call.ts";
import { recordedName } from "../../core/printable.ts";
import type { RunningCall } from "../messages.ts";
import { Booking } from "./booking.ts";

/** Bytes of output that are about one token. */
const TOKEN_BYTES = 4;

/** @param beganAt milliseconds since 1970 */
export function runningCallOf(call: Call, beganAt: number): RunningCall {
  const { attempt, principal } = call;
  const target = attempt?.target;
  const booking = attempt?.booking;
  const firstAt = attempt?.firstByteAt;
  return {
    id: call.id,
    startedAt: Math.round(beganAt),
    ...(principal && { key: principal.key?.id, path: principal.path }),
    format: call.format,
    model: recordedName(call.model),
    stream: call.stream,
    phase: attempt === undefined ? "starting" : firstAt === undefined ? "waiting" : "answering",
    attempts: call.attempts.length,
    ...(target && {
      provider: target.provider.name,
      deployment: target.deployment.name,
      target: recordedName(target.model),
    }),
    ...(firstAt !== undefined && { firstMs: Math.round(firstAt - call.startedAt) }),
    output: attempt ? Math.max(attempt.usage.output, Math.round(attempt.outputBytes / TOKEN_BYTES)) : 0,
    held: booking instanceof Booking && booking.charge === undefined ? booking.cost : 0,
  };
}
