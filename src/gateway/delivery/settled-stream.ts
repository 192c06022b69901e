/** The streamed body of an answer whose source has begun: its time limits, and how its end settles the call. */
import type { Gateway, Incoming } from "../types.ts";
import { timeoutsOf } from "./deadline.ts";
import type { ByteSource } from "./stream.ts";
import { answerStream } from "./stream.ts";

export function settledStream(
  source: ByteSource,
  { call, format }: Incoming,
  { settler, clock, timeouts }: Gateway,
): ReadableStream<Uint8Array> {
  const clocks = { clock, ...timeouts, gapMs: timeoutsOf(call, timeouts).gapMs };
  return answerStream(source, call, format.client, clocks, {
    complete: () => settler.complete(call),
    failed: (error) => settler.failed(call, error),
    cancelled: () => settler.cancelled(call),
  });
}
