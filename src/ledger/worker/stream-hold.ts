/** The hold of a running stream, which grows with its output. */
import type { Attempt } from "../../core/call.ts";
import { REFUSED_BY } from "../../core/refusal.ts";
import type { Refusal } from "../messages.ts";
import { type Asks, type Short, STREAM_MS, type Waiter } from "./asks.ts";
import type { Booking } from "./booking.ts";
import { costOf, nextOutput, outputLimit } from "./estimate.ts";
import { cutShort, unavailable } from "./refusal.ts";
import type { LossSettings } from "./settings.ts";

/** One extension. Only hard budgets can refuse it: what other lines lack is taken all the same. */
export class StreamHold {
  readonly #attempt: Attempt;
  readonly #booking: Booking;
  readonly #settings: LossSettings;
  readonly #asks: Asks;
  /** The output that will be held, and its cost with the input. */
  readonly #output: number;
  readonly #cost: number;

  constructor(attempt: Attempt, booking: Booking, settings: LossSettings, asks: Asks) {
    this.#attempt = attempt;
    this.#booking = booking;
    this.#settings = settings;
    this.#asks = asks;
    const { heldOutput, output, size, input, applied } = booking;
    this.#output = nextOutput(heldOutput, output, attempt.outputTokens);
    this.#cost = costOf(applied.rule, input, this.#output, size, settings);
  }

  extend(): void {
    if (this.#take()) return;
    const attempt = this.#attempt;
    // The stream goes on while the keeper is asked.
    attempt.outputLimit = Infinity;
    const waiter: Waiter = {
      shorts: () => this.#shorts(),
      take: () => this.#take(),
      granted: () => {},
      refused: (refusals) =>
        refusals.some((refusal) => refusal.unavailable) ? this.#silent() : this.#cut(refusals),
      silent: () => this.#silent(),
    };
    this.#asks.ask(waiter, STREAM_MS);
  }

  /** @returns true also if the attempt has been settled in the meantime */
  #take(): boolean {
    const booking = this.#booking;
    if (booking.charge) return true;
    if (this.#shorts().length > 0) return false;
    this.#hold();
    return true;
  }

  #hold(): void {
    const booking = this.#booking;
    const money = this.#cost - booking.cost;
    const tokens = this.#output - booking.heldOutput;
    for (const [at, share] of booking.shares.entries()) {
      const { unit, mode } = share.line;
      let more = 0;
      if (unit === "money")
        more = mode === "hard" ? money : mode === "soft" ? Math.min(money, Math.max(0, share.left)) : 0;
      else if (unit === "tpm" || unit === "tpd" || unit === "otpm") more = tokens;
      share.hold(more);
      booking.holds[at]! += more;
    }
    booking.cost = this.#cost;
    booking.heldOutput = this.#output;
    this.#attempt.outputLimit = outputLimit(this.#output, booking.output);
  }

  #shorts(): Short[] {
    const more = this.#cost - this.#booking.cost;
    if (more <= 0) return [];
    return this.#booking.shares.flatMap((share) => {
      const { unit, mode } = share.line;
      return unit === "money" && mode === "hard" && share.left < more ? [{ share, hold: more }] : [];
    });
  }

  #cut(refusals: readonly Refusal[]): void {
    const { shares } = this.#booking;
    const refusal = refusals.find(({ account }) => shares.some((share) => share.account === account));
    const share = shares.find(({ account }) => account === refusal?.account);
    if (this.#booking.charge || !refusal || !share) return;
    const { call } = this.#attempt;
    const reason = cutShort(share.line, refusal, this.#settings.tell);
    call.refused = "budget";
    if (reason.by) REFUSED_BY.set(call, reason.by);
    call.abort(reason);
  }

  /** The keeper cannot be reached. */
  #silent(): void {
    if (this.#booking.charge) return;
    const short = this.#shorts()[0];
    if (!short || this.#settings.onLoss === "open") return this.#hold();
    this.#attempt.call.abort(unavailable(short.share.line, this.#settings.unreleased));
  }
}
