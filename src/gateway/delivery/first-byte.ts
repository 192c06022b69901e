/** The time that an attempt may take to the first event of its answer. */
import type { Call } from "../../core/call.ts";
import type { UpstreamTimeouts } from "../../core/provider.ts";

/** How long an attempt may take to its first event, which is another time for streams. Milliseconds. */
export function firstByteMsOf({ stream }: Pick<Call, "stream">, limits: UpstreamTimeouts): number {
  return (stream ? limits.streamFirstByteMs : undefined) ?? limits.firstByteMs;
}
