/** The most that attempts may use and cost, and what this worker has learned of the targets. */
import type { Attempt, Call } from "../../core/call.ts";
import type { Admitted } from "../../core/ledger.ts";
import type { LedgerRefusal } from "../../core/refusal.ts";
import { serverTools } from "../keys/options.ts";
import { type Margin, Margins, missed } from "../margins.ts";
import type { Nano } from "../money.ts";
import { pricesUnits } from "../prices/price.ts";
import type { Booking } from "./booking.ts";
import {
  chargedSize,
  costOf,
  firstOutput,
  inputAtMost,
  outputAtMost,
  outputPermitted,
  partsOf,
} from "./estimate.ts";
import { callerWords } from "../../core/principal.ts";
import { priceUnknown, serverToolsForbidden, tooDear, tooLong } from "./refusal.ts";
import type { LedgerSettings } from "./settings.ts";

export class Estimates {
  readonly #settings: () => LedgerSettings;
  readonly #margins = new Margins();

  constructor(settings: () => LedgerSettings) {
    this.#settings = settings;
  }

  /** @throws LedgerRefusal for what the caller may not do */
  checkScopes({ call, target }: Attempt, booking: Booking, admitted: Admitted): void {
    const principal = call.principal!;
    const { maxTokens, maxCost } = principal.options;
    const permitted = serverTools.of(principal) !== false;
    if (permitted && maxTokens === undefined && maxCost === undefined) return;
    booking.size ??= chargedSize(admitted.size(target), booking.applied.rule);
    if (!permitted && booking.size.hasServerTools) refuse(call, serverToolsForbidden(callerWords(principal)));
    if (maxTokens !== undefined) {
      const output = outputPermitted(booking.size, booking.applied.rule);
      const isNamed = booking.size.maxTokens !== undefined;
      if (output > maxTokens) refuse(call, tooLong(callerWords(principal), maxTokens, output, isNamed));
    }
    if (maxCost === undefined) return;
    if (!isPriced(booking))
      refuse(
        call,
        priceUnknown(
          target,
          `the ${callerWords(principal)}, which bounds the cost of a call,`,
          booking.size.units,
        ),
      );
    this.#measure(booking);
    if (booking.fullCost > maxCost) refuse(call, tooDear(callerWords(principal), maxCost, booking.fullCost));
  }

  /** Sets what the attempt may use and cost at most. @throws LedgerRefusal under a hard budget without a price */
  estimate(attempt: Attempt, booking: Booking, admitted: Admitted): void {
    const { call, target } = attempt;
    booking.size ??= chargedSize(admitted.size(target), booking.applied.rule);
    attempt.countsOutput = true;
    const { hasHard, lines } = booking.applied;
    if (hasHard && !isPriced(booking)) {
      const line = lines.find(({ unit, mode }) => unit === "money" && mode === "hard")!;
      refuse(call, priceUnknown(target, `the hard budget "${line.name}"`, booking.size.units));
    }
    this.expect(attempt, booking);
  }

  /** Sets what the attempt may use and cost, and what is held for it at first. */
  expect(attempt: Attempt, booking: Booking): void {
    this.#measure(booking);
    this.#hold(attempt, booking);
  }

  /** The most that an attempt may cost that produces a share of its output. @returns undefined without a price */
  bound(booking: Booking, outputShare: number): Nano | undefined {
    this.#measure(booking);
    if (!isPriced(booking)) return undefined;
    const { applied, input, output, size } = booking;
    return costOf(applied.rule, input, Math.ceil(output * outputShare), size, this.#settings());
  }

  /** Sets what is held at first: a stream whose output is visible holds the rest as it grows. */
  #hold({ call, target }: Attempt, booking: Booking): void {
    const settings = this.#settings();
    const { rule } = booking.applied;
    const hides = target.traits?.hidesReasoning ?? target.provider.traits?.hidesReasoning;
    const grows = call.stream && !hides && booking.size!.opaque === undefined;
    booking.heldOutput = grows ? firstOutput(booking.output, booking.size!.choices) : booking.output;
    booking.cost = grows
      ? costOf(rule, booking.input, booking.heldOutput, booking.size, settings)
      : booking.fullCost;
  }

  #measure(booking: Booking): void {
    const settings = this.#settings();
    const { rule, target } = booking.applied;
    const size = booking.size!;
    const margin = this.#margins.isEmpty || booking.isWork ? 0 : this.#margins.of(target, partsOf(size));
    booking.expected = booking.isWork ? 0 : inputAtMost(size, rule, 0, settings);
    booking.input = margin === 0 ? booking.expected : inputAtMost(size, rule, margin, settings);
    booking.output = outputAtMost(booking.size!, rule, settings);
    booking.fullCost = costOf(rule, booking.input, booking.output, booking.size, settings);
  }

  /** The next estimate for the target allows for what this one missed. */
  learn({ usage }: Attempt, booking: Booking): void {
    const { size, expected, applied } = booking;
    const actual = usage.input + usage.cacheRead + usage.cacheWrite;
    if (!size || size.hasServerTools || actual <= expected) return;
    booking.missed = missed(partsOf(size), actual);
    for (const margin of booking.missed) this.#margins.learn({ target: applied.target, ...margin });
  }

  /** Factors that all workers have learned. */
  note(margins: readonly Margin[]): void {
    for (const margin of margins) this.#margins.learn(margin);
  }
}

/** Whether the most that the attempt can cost is known. */
function isPriced({ applied: { rule }, size }: Booking): boolean {
  return rule !== undefined && (size?.units === undefined || pricesUnits(rule, size.units));
}

function refuse(call: Call, refusal: LedgerRefusal): never {
  call.refused = refusal.reason;
  throw refusal;
}
