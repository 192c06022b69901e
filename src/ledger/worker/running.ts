/** A call that runs, as the console shows it. */
import type { Call } from "../../core/call.ts";
import { recordedName } from "../../core/printable.ts";
import { MOST_RUNNING, type RunningCall, type WorkerState } from "../messages.ts";
import type { Nano } from "../money.ts";
import { Booking } from "./booking.ts";
import { costSoFar } from "./settlement.ts";

/** Bytes of output that are about one token. */
const TOKEN_BYTES = 4;

/** The longest of the calls. @param timeOf milliseconds since 1970 of a monotonic time */
export function runningCalls(
  calls: readonly Call[],
  timeOf: (startedAt: number) => number,
): NonNullable<WorkerState["running"]> {
  const longest = [...calls].sort((a, b) => a.startedAt - b.startedAt).slice(0, MOST_RUNNING);
  return { total: calls.length, calls: longest.map((call) => runningCallOf(call, timeOf(call.startedAt))) };
}

/** A running call with what it has cost so far. @param beganAt milliseconds since 1970 */
export function soFarOf(call: Call, beganAt: number): RunningCall & { cost?: Nano } {
  const { attempt } = call;
  const cost = attempt?.booking instanceof Booking ? costSoFar(attempt, attempt.booking) : undefined;
  return { ...runningCallOf(call, beganAt), ...(cost !== undefined && { cost }) };
}

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
