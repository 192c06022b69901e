/** What an attempt used and cost, from how it ended. */
import type { Attempt } from "../../core/call.ts";
import { estimateTokens } from "../../core/estimate.ts";
import { NO_USAGE, type Usage, usageState } from "../../core/events.ts";
import type { Charge } from "../charge.ts";
import type { Nano } from "../money.ts";
import { chargeOf, type Reach } from "../prices/charge-of.ts";
import { priceUsage } from "../prices/price.ts";
import { regionOf } from "../prices/region.ts";
import type { Booking } from "./booking.ts";
import type { LedgerSettings } from "./settings.ts";

/** Bytes of text for a token, on average. */
const OUTPUT_BYTES_PER_TOKEN = 3.5;
const INPUT_BYTES_PER_TOKEN = 4;

/** @returns the charge, and the tokens that count for rate limits */
export function settlementOf(
  attempt: Attempt,
  booking: Booking,
  settings: LedgerSettings,
): { charge: Charge; used: Usage } {
  const { rule, ruleOf, hasHard } = booking.applied;
  const reach = reachOf(attempt, booking);
  const { usage } = attempt;
  const region = rule?.regions && regionOf(attempt.target.deployment);
  if (reach !== "sent" || usageState(usage) === "final")
    return { charge: chargeOf({ reach, usage, region }, rule, ruleOf), used: usage };
  // Nothing of an answer came: whether the provider charges is not known.
  if (attempt.firstByteAt === undefined && usageState(usage) === "absent") {
    const isFull = settings.assume === undefined ? hasHard : settings.assume === "full";
    const used = {
      ...NO_USAGE,
      input: likelyInput(attempt, booking),
      output: isFull ? booking.heldOutput : 0,
    };
    const least: Nano = rule ? priceUsage({ ...used, output: 0 }, rule).cost : 0;
    const assumed = isFull ? Math.max(least, booking.cost) : least;
    return { charge: chargeOf({ reach, usage, assumed }, rule), used };
  }
  const estimate = estimateOf(attempt, booking);
  return { charge: chargeOf({ reach, usage, estimate, region }, rule, ruleOf), used: estimate };
}

function reachOf(attempt: Attempt, { applied: { rule } }: Booking): Reach {
  const { failure, target, wasSent, upstreamStatus } = attempt;
  // A program without a price runs in weir itself.
  if (target.lane === "generated") return rule ? "sent" : "unsent";
  if (!wasSent || failure?.class === "not-sent") return "unsent";
  const isError = upstreamStatus !== undefined && upstreamStatus >= 400;
  return isError || failure?.class === "status" ? "refused" : "sent";
}

/** What an answer has used so far as far as weir can tell, with the counts of the provider where it gave them. */
function estimateOf(attempt: Attempt, booking: Booking): Usage {
  const { usage, outputBytes, estimated, target } = attempt;
  const seen = Math.max(usage.output, estimated?.output ?? Math.round(outputBytes / OUTPUT_BYTES_PER_TOKEN));
  const hides = target.traits?.hidesReasoning ?? target.provider.traits?.hidesReasoning;
  const output = hides && booking.applied.hasHard ? Math.max(seen, booking.heldOutput) : seen;
  const isInputKnown = usage.input + usage.cacheRead + usage.cacheWrite > 0;
  return {
    ...usage,
    output,
    ...(!isInputKnown && { input: estimated?.input ?? likelyInput(attempt, booking) }),
  };
}

/** The input that a tokenizer would count, where no provider did. Tokens. */
function likelyInput({ request }: Attempt, { size, bytes }: Booking): number {
  if (request) return estimateTokens(request);
  return Math.ceil((size?.textBytes ?? bytes) / INPUT_BYTES_PER_TOKEN) + (size?.mediaTokens ?? 0);
}
