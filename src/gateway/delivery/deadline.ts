/** The deadlines of one call: the beginning of each attempt's answer, and the whole. */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { UpstreamTimeouts } from "../../core/provider.ts";
import type { Clock, Watcher } from "./clock.ts";
import { TICK_MS } from "./clock.ts";
import type { Gateway, Timeouts } from "../types.ts";

export class Deadline implements Watcher {
  readonly #call: Call;
  readonly #clock: Clock;
  readonly #timeouts: Timeouts;
  readonly #ownMs: number | undefined;
  /** The call has lasted for some seconds. */
  isLong = false;
  /** Called when it has; what only long calls need is not done for the others. */
  onLong?: () => void;
  /** Called once when the answer has not begun after `holdMs`. */
  onHold?: () => void;

  constructor(call: Call, clock: Clock, timeouts: Timeouts) {
    this.#call = call;
    this.#clock = clock;
    this.#timeouts = timeouts;
    this.#ownMs = secondsIn(call.headers.get(DEADLINE));
    clock.add(this);
  }

  /** The call is over. Kept a tick longer, the garbage of thousands of calls would outlive its generation. */
  stop(): void {
    this.#clock.remove(this);
  }

  end(reason: GatewayError): void {
    this.stop();
    this.#call.abort(reason);
  }

  tick(now: number): void {
    const call = this.#call;
    // The next tick comes later than this one is early.
    const soon = now + TICK_MS / 2;
    const limits = timeoutsOf(call, this.#timeouts);
    const totalMs = Math.min(limits.totalMs, this.#ownMs ?? Infinity);
    if (soon - call.startedAt > totalMs) return this.#giveUp(totalMs);
    if (!this.isLong && now - call.startedAt > LONG_MS) {
      this.isLong = true;
      this.onLong?.();
    }
    if (call.firstByteAt !== undefined) return;
    if (now - call.startedAt > this.#timeouts.holdMs) {
      this.onHold?.();
      this.onHold = undefined;
    }
    const running = call.attempts.at(-1);
    if (running && !running.failure && soon - running.startedAt > limits.firstByteMs)
      call.abortAttempt(tooLate("The provider did not begin to answer within", limits.firstByteMs));
  }

  #giveUp(totalMs: number): void {
    this.end(tooLate("The call took longer than", totalMs));
  }
}

/** Milliseconds; far below what a connection may be idle. */
const LONG_MS = 5_000;

/** Seconds a client gives the whole call. */
const DEADLINE = "x-request-timeout";
/** What the vendors' SDKs say of their own patience, in seconds: they leave then, so that nothing is begun after it. */
const PATIENCE = "x-stainless-timeout";

/** Milliseconds in which another attempt may still begin. */
export function remainingMs(call: Call, gateway: Gateway): number {
  const limits = [DEADLINE, PATIENCE].map((name) => secondsIn(call.headers.get(name)) ?? Infinity);
  const totalMs = timeoutsOf(call, gateway.timeouts).totalMs;
  return Math.min(totalMs, ...limits) - (performance.now() - call.startedAt);
}

/** Those of the deployment that is asked, else the gateway's. */
export function timeoutsOf(call: Call, timeouts: UpstreamTimeouts): UpstreamTimeouts {
  return call.target?.deployment.timeouts ?? timeouts;
}

/** Milliseconds; nothing when it is no positive number. */
function secondsIn(text: string | null): number | undefined {
  const seconds = text === null ? Number.NaN : Number(text);
  return seconds > 0 && Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function tooLate(what: string, ms: number): GatewayError {
  return new GatewayError("timeout", `${what} ${Math.round(ms / 100) / 10} s.`, { code: "timeout" });
}
