/** Output that a provider may have produced of a stream beyond what arrived, until weir stopped it. */
import type { Attempt } from "../../core/call.ts";

/** Output of one answer in a second, where the stream itself shows no higher pace. Tokens. */
const PACE = 200;
/** A pace is read from a stream that has lasted so long. Milliseconds. */
const PACE_FROM_MS = 500;
/** The way of the last event to weir, and of the stop to the provider. Milliseconds. */
const WAY_MS = 250;
/** A provider that shows all of its output is silent because it produces nothing. Milliseconds. */
const SILENCE_MS = 1_000;

/**
 * @param hides the provider shows no reasoning: while nothing arrives it may produce all the same
 * @param seen tokens that have arrived
 * @param now monotonic milliseconds
 */
export function unseenOutput(
  { startedAt, firstOutputAt, outputAt }: Pick<Attempt, "startedAt" | "firstOutputAt" | "outputAt">,
  hides: boolean,
  seen: number,
  now: number,
): number {
  const silence = now - (outputAt ?? startedAt);
  if (firstOutputAt === undefined || outputAt === undefined) {
    // Without an event nothing says how soon the provider began.
    return tokensIn(silence + WAY_MS, PACE);
  }
  const lasted = outputAt - firstOutputAt;
  const pace = lasted < PACE_FROM_MS ? PACE : Math.max(PACE, (seen / lasted) * 1_000);
  const hidden = hides ? firstOutputAt - startedAt : 0;
  return tokensIn((hides ? silence : Math.min(silence, SILENCE_MS)) + hidden + WAY_MS, pace);
}

function tokensIn(ms: number, pace: number): number {
  return Math.ceil((ms / 1_000) * pace);
}
