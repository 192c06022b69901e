/** Usage and cost of an attempt, from how it ended. */
import type { Attempt } from "../../core/call.ts";
import { estimateTokens } from "../../core/estimate.ts";
import { NO_USAGE, type Usage, usageState } from "../../core/events.ts";
import { inputLikely, LIKELY_SHARE } from "../../core/tokens/likely.ts";
import type { Charge, PriceRule } from "../charge.ts";
import type { Nano } from "../money.ts";
import { chargeOf, type Reach } from "../prices/charge-of.ts";
import { costAtMost, isByTokens, pricesUnits, priceUsage } from "../prices/price.ts";
import { regionOf } from "../prices/region.ts";
import type { Booking } from "./booking.ts";
import { unseenOutput } from "./gap.ts";
import type { LedgerSettings } from "./settings.ts";

/** Bytes of text for a token, on average. */
const OUTPUT_BYTES_PER_TOKEN = 3.5;
const INPUT_BYTES_PER_TOKEN = 4;

interface Settlement {
  readonly charge: Charge;
  readonly used: Usage;
}

/**
 * Sets the estimate of the booking where the provider has not counted all.
 * @returns the charge, and the tokens that it is for, which also count for rate limits
 */
export function settlementOf(attempt: Attempt, booking: Booking, settings: LedgerSettings): Settlement {
  const { rule, ruleOf } = booking.applied;
  const reach = reachOf(attempt, booking);
  const { usage } = attempt;
  const region = rule?.regions && regionOf(attempt.target.deployment);
  if (reach !== "sent" || usageState(usage) === "final")
    return { charge: chargeOf({ reach, usage, region }, rule, ruleOf), used: usage };
  if (rule && attempt.opaque && isWholeInUnits(usage, rule))
    return { charge: chargeOf({ reach, usage: { ...usage, known: "final" }, region }, rule), used: usage };
  // Nothing of an answer came, or nothing that shows what it costs: whether the provider charges is not known.
  const hasBegun = attempt.firstByteAt !== undefined;
  if (usageState(usage) === "absent" && (!hasBegun || attempt.opaque)) {
    const { used, assumed } =
      hasBegun && attempt.opaque ? allOf(attempt.opaque, booking) : assumptionOf(attempt, booking, settings);
    booking.estimate = used;
    return { charge: chargeOf({ reach, usage, assumed }, rule), used };
  }
  const estimate = estimateOf(attempt, booking);
  const used = region === undefined ? estimate : { ...estimate, region: estimate.region ?? region };
  booking.estimate = used;
  return { charge: chargeOf({ reach, usage, estimate: used }, rule, ruleOf), used };
}

/** Of an answer that has begun, and of which nothing shows how far it came. */
function allOf(
  most: NonNullable<Attempt["opaque"]>,
  { applied: { rule, hasHard }, cost }: Booking,
): { used: Usage; assumed: Nano } {
  const used: Usage = { ...NO_USAGE, ...most, known: "partial" };
  const least: Nano = rule ? costAtMost(rule, most) : 0;
  return { used, assumed: hasHard ? Math.max(least, cost) : least };
}

/** The model is charged by units alone, and all are known. */
function isWholeInUnits({ units }: Usage, rule: PriceRule): boolean {
  return (
    units !== undefined && rule.units !== undefined && rule.input === undefined && pricesUnits(rule, units)
  );
}

/** What a running attempt has cost so far, as far as weir knows. @returns undefined without a price */
export function costSoFar(attempt: Attempt, booking: Booking): Nano | undefined {
  const { rule } = booking.applied;
  if (!rule || attempt.firstByteAt === undefined) return undefined;
  return priceUsage(estimateOf(attempt, booking), rule).cost;
}

/** Usage and cost that are assumed for an attempt without an answer. */
function assumptionOf(
  attempt: Attempt,
  booking: Booking,
  { assume }: LedgerSettings,
): { used: Usage; assumed: Nano } {
  const { rule, hasHard } = booking.applied;
  const input = likelyInput(attempt, booking);
  const isLeft = assume === undefined && attempt.call.stream && attempt.stop.reason !== undefined;
  const isFull = !isLeft && (assume === undefined ? hasHard : assume === "full");
  const output = isLeft ? unseenOf(attempt, booking, 0) : isFull ? booking.heldOutput : 0;
  const units = booking.size?.units;
  const used: Usage = { ...NO_USAGE, input, output, ...(units && { units }), known: "partial" };
  const least: Nano = rule ? priceUsage(used, rule).cost : 0;
  return { used, assumed: isFull ? Math.max(least, booking.cost) : least };
}

function reachOf(attempt: Attempt, { applied: { rule }, isWork }: Booking): Reach {
  const { failure, target, wasSent, upstreamStatus } = attempt;
  // A program without a price runs in weir itself.
  if (target.lane === "generated" && !isWork) return rule ? "sent" : "unsent";
  if (!wasSent || failure?.class === "not-sent") return "unsent";
  const isError = upstreamStatus !== undefined && upstreamStatus >= 400;
  return isError || failure?.class === "status" ? "refused" : "sent";
}

/** Usage of an answer so far, as far as weir knows, with the counts of the provider where it gave them. */
function estimateOf(attempt: Attempt, booking: Booking): Usage {
  const { call, usage, outputBytes, outputTokens, estimated } = attempt;
  if (estimated?.isInstead) return insteadOfUnits(usage, estimated, booking.applied.rule);
  // A hard budget counts the most that the text can be: what is booked too low would be spent again.
  const counted = booking.applied.hasHard ? outputTokens : outputTokens * LIKELY_SHARE;
  const likely = Math.round(Math.max(outputBytes / OUTPUT_BYTES_PER_TOKEN, counted));
  const seen = Math.max(usage.output, Math.min(estimated?.output ?? likely, mostOutput(booking)));
  const isCut = call.stream && (attempt.stop.reason !== undefined || attempt.failure !== undefined);
  const output = seen + (isCut ? unseenOf(attempt, booking, seen) : 0);
  const isInputKnown = usage.input + usage.cacheRead + usage.cacheWrite > 0;
  return {
    ...usage,
    output,
    known: "partial",
    ...(!isInputKnown && { input: estimated?.input ?? likelyInput(attempt, booking) }),
  };
}

/** Tokens, where the price is by tokens; else the units alone. */
function insteadOfUnits(
  { units = {}, ...usage }: Usage,
  { input, output }: { input: number; output: number },
  rule: PriceRule | undefined,
): Usage {
  const tokens = isByTokens(rule, units) ? { input, output } : { units };
  return { ...usage, ...tokens, known: "partial" };
}

/** Output that the provider may have produced besides what arrived, within the limits of the request and of the model. */
function unseenOf(attempt: Attempt, booking: Booking, seen: number): number {
  const { target } = attempt;
  const hides = target.traits?.hidesReasoning ?? target.provider.traits?.hidesReasoning ?? false;
  // Under a hard budget a stream is stopped before it has used what is held for it.
  const most = booking.applied.hasHard && booking.heldOutput > 0 ? booking.heldOutput : mostOutput(booking);
  const left = Math.max(0, most - seen);
  return Math.min(unseenOutput(attempt, hides, seen, performance.now()), left);
}

/** The most that the request permits, where it was measured: an estimate is never more. */
function mostOutput({ output, applied: { rule } }: Booking): number {
  return output > 0 ? output : (rule?.maxOutput ?? Infinity);
}

/** The input that a tokenizer would count, where no provider did. Tokens. */
function likelyInput({ request }: Attempt, { size, bytes, input, isWork }: Booking): number {
  if (isWork) return 0;
  const most = input > 0 ? input : Infinity;
  if (request) return Math.min(estimateTokens(request), most);
  if (!size) return Math.ceil(bytes / INPUT_BYTES_PER_TOKEN);
  return Math.min(inputLikely(size), most);
}
