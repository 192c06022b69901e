/** A line on its way into a batch of its provider, and back. */
import type { Attempt, Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import { DISCOUNT } from "../../../core/ledger.ts";
import type { Target } from "../../../core/provider.ts";
import type { Carrier, Plan, Prepared, UpstreamResponse } from "../../../gateway/lanes/carrier.ts";

/**
 * Why a line comes back without an answer.
 * - `expired`, `cancelled`: the provider has not run it.
 * - `unsent`: the batch ended before it went out.
 * - `run`: the provider has none of its batch; weir runs the line.
 * - `again`: the line goes into another batch, because the provider has no such one, or has refused the line for now.
 * - `lost`: the provider may have answered and charged it.
 * - `left`: the runner leaves; the batch of the provider goes on.
 */
export type Outcome =
  "expired" | "cancelled" | "unsent" | "run" | "again" | "lost" | "left" | { readonly fault: unknown };

export interface Answer {
  readonly status: number;
  readonly body: Uint8Array | string;
}

/** What a ticket asks of the run of its batch. */
export interface TicketDesk {
  /** @returns undefined: the line goes the ordinary way */
  takes(ticket: Ticket, plan: Plan): Target | undefined;
  /** The request is prepared, and its part of budgets is held. */
  arrived(ticket: Ticket, prepared: Prepared): void;
  /** @param lines more that enter; negative: fewer */
  changed(lines: number): void;
}

/** Headers of an answer in a file, which has none of its own. */
const HEADERS = { "content-type": "application/json" };

export class Ticket implements Carrier {
  /** Number of the line, from 1. */
  readonly line: number;
  /** Whether the model of the line can be in a batch is not known before this line has tried. */
  readonly isProbe: boolean;
  readonly #desk: TicketDesk;
  readonly #decided = Promise.withResolvers<void>();
  #answer = Promise.withResolvers<Answer>();
  #onTaken: (() => void) | undefined;
  #onHeld: (() => void) | undefined;
  #outcome: Outcome | undefined;
  /** The line is on its way to its batch, which waits for it. */
  #isEntering = true;
  #isTaken = false;
  #hasArrived = false;
  #isAnswered = false;
  #attempt: Attempt | undefined;
  /** Share of the ordinary price; undefined: that of the price book for batches. */
  factor: number | undefined;
  /** The provider may have the line. */
  isSent = false;

  constructor(line: number, isProbe: boolean, desk: TicketDesk) {
    this.line = line;
    this.isProbe = isProbe;
    this.#desk = desk;
    this.#answer.promise.catch(() => {});
  }

  /** The line goes by a batch of its provider. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** The provider has answered: another error is one of weir, which may pass. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Resolves when it is known whether the line goes by a batch, or when it has ended. */
  get decided(): Promise<void> {
    return this.#decided.promise;
  }

  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  /** @param listener called when a carrier takes the line */
  onTaken(listener: () => void): void {
    this.#onTaken = listener;
  }

  /** @param listener called when the part of budgets of a line is held that a carrier has taken */
  onHeld(listener: () => void): void {
    this.#onHeld = listener;
  }

  /** A try of the line begins. */
  begins(): void {
    this.#enters(true);
  }

  /** A try of the line has ended, with or without an answer. */
  ends(): void {
    this.#decided.resolve();
    this.#enters(false);
  }

  takes(plan: Plan, call: Call): Target | undefined {
    const target = this.#desk.takes(this, plan);
    this.#isTaken = target !== undefined;
    if (!target) this.#enters(false);
    this.#decided.resolve();
    if (!target) return undefined;
    DISCOUNT.set(call, this.factor === undefined ? "bulk" : 1 - this.factor);
    this.#onTaken?.();
    return target;
  }

  async carry(prepared: Prepared, attempt: Attempt): Promise<UpstreamResponse> {
    if (attempt.stop.reason) throw attempt.stop.reason;
    this.#attempt = attempt;
    const stopped = () => {
      attempt.wasSent = this.isSent;
      this.#answer.reject(attempt.stop.reason);
    };
    attempt.stop.addEventListener("abort", stopped);
    if (!this.#hasArrived) {
      this.#hasArrived = true;
      this.#onHeld?.();
      this.#desk.arrived(this, prepared);
      this.#enters(false);
    }
    try {
      const { status, body } = await this.#answer.promise;
      return new Response(body as Uint8Array<ArrayBuffer>, { status, headers: HEADERS });
    } finally {
      attempt.stop.removeEventListener("abort", stopped);
    }
  }

  /** The provider has answered the line. */
  answer({ status, body }: Answer): void {
    this.#isAnswered = true;
    this.#answer.resolve({ status: status >= 200 && status <= 599 ? status : 502, body });
  }

  /** The line gets no answer. */
  giveUp(outcome: Outcome): void {
    this.#outcome ??= outcome;
    // What the provider may charge is assumed to be charged.
    if (this.#attempt) this.#attempt.wasSent = outcome === "lost";
    this.#answer.reject(
      new GatewayError("upstream", "The batch of the provider has no answer to this line.", {
        code: "no_answer",
      }),
    );
  }

  /** The line tries once more. */
  renew(): void {
    this.#answer = Promise.withResolvers<Answer>();
    this.#answer.promise.catch(() => {});
    this.#outcome = undefined;
    this.#attempt = undefined;
    this.#hasArrived = false;
    this.isSent = false;
  }

  #enters(is: boolean): void {
    if (this.#isEntering === is) return;
    this.#isEntering = is;
    this.#desk.changed(is ? 1 : -1);
  }
}
