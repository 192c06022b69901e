/** The deadlines of one call: the head of the answer, and the whole. */
import type { Call } from "../core/call.ts";
import { GatewayError } from "../core/error.ts";
import type { Clock, Watcher } from "./clock.ts";
import type { Timeouts } from "./exchange.ts";

export class Deadline implements Watcher {
  readonly #call: Call;
  readonly #clock: Clock;
  readonly #timeouts: Timeouts;
  /** Called once when the answer has not begun after `holdMs`. */
  onHold?: () => void;

  constructor(call: Call, clock: Clock, timeouts: Timeouts) {
    this.#call = call;
    this.#clock = clock;
    this.#timeouts = timeouts;
    clock.add(this);
  }

  /** The call is over. Kept a tick longer, the garbage of thousands of calls would outlive its generation. */
  stop(): void {
    this.#clock.remove(this);
  }

  tick(now: number): void {
    const call = this.#call;
    const age = now - call.startedAt;
    if (age > this.#timeouts.totalMs)
      this.#giveUp(`The call took longer than ${seconds(this.#timeouts.totalMs)}.`);
    else if (call.firstByteAt === undefined && age > this.#timeouts.holdMs) {
      this.onHold?.();
      this.onHold = undefined;
    }
    if (call.firstByteAt === undefined && age > this.#timeouts.firstByteMs)
      this.#giveUp(`The provider did not begin to answer within ${seconds(this.#timeouts.firstByteMs)}.`);
  }

  #giveUp(message: string): void {
    this.stop();
    this.#call.abort(new GatewayError("timeout", message, { code: "timeout" }));
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
