/** The deadlines of one call: for the first byte of each attempt, for the whole call, and for the terminator of an answer. */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { UpstreamTimeouts } from "../../core/provider.ts";
import type { Clock, Watcher } from "./clock.ts";
import { isCarried } from "../lanes/carried.ts";
import { firstByteMsOf } from "./first-byte.ts";
import { TICK_MS } from "./clock.ts";
import { blame } from "../plugins/late-hooks.ts";
import type { Gateway, Timeouts } from "../types.ts";

export class Deadline implements Watcher {
  place: number | undefined = undefined;
  readonly call: Call;
  readonly #clock: Clock;
  readonly #timeouts: Timeouts;
  /** The call has lasted longer than `LONG_CALL_MS`. */
  isLong = false;
  /** Called once when the call becomes long, so that short calls do not pay for what only long ones need. */
  onLong?: () => void;
  /** Called once if the answer has not begun after `holdMs`. */
  onHold?: () => void;

  constructor(call: Call, clock: Clock, timeouts: Timeouts) {
    this.call = call;
    this.#clock = clock;
    this.#timeouts = timeouts;
    clock.add(this);
  }

  /** Call this at the end of the call. A later removal would let thousands of ended calls survive a garbage collection. */
  stop(): void {
    this.#clock.remove(this);
  }

  end(reason: GatewayError): void {
    this.stop();
    this.call.abort(reason);
  }

  tick(now: number): void {
    const call = this.call;
    if (call.attempt && isCarried.get(call.attempt)) return;
    // Rounds to the nearest tick: a deadline is at most half a tick early or late.
    const nearest = now + TICK_MS / 2;
    const limits = timeoutsOf(call, this.#timeouts);
    // Read here and not in advance: most calls end before the first tick.
    const clientMs = millisecondsOf(call.headers.get(DEADLINE_HEADER)) ?? Infinity;
    const totalMs = Math.min(limits.totalMs, clientMs);
    if (nearest - call.startedAt > totalMs)
      return this.end(blame(timeout("The call took longer than", totalMs), call));
    if (!this.isLong && now - call.startedAt > LONG_CALL_MS) {
      this.isLong = true;
      this.onLong?.();
    }
    if (now - call.startedAt > this.#timeouts.holdMs) {
      // Also behind the provider's first byte: the first event for the client may need many of them.
      this.onHold?.();
      this.onHold = undefined;
    }
    if (call.attempt?.firstByteAt !== undefined) return;
    const running = call.attempts.at(-1);
    const firstMs = firstByteMsOf(call, limits);
    if (running && !running.failure && nearest - running.startedAt > firstMs)
      running.stop.abort(blame(timeout("The provider did not begin to answer within", firstMs), call));
  }
}

/** Milliseconds; far below the idle timeout of a client connection. */
const LONG_CALL_MS = 5_000;

/** The client's deadline for the whole call, in seconds. */
const DEADLINE_HEADER = "x-request-timeout";
/** The timeout of the vendors' SDKs, in seconds: weir starts no attempt after it, because the client disconnects then. */
const SDK_TIMEOUT_HEADER = "x-stainless-timeout";

/** Milliseconds in which weir may still start another attempt. */
export function remainingMs(call: Call, gateway: Gateway): number {
  const limits = [DEADLINE_HEADER, SDK_TIMEOUT_HEADER].map(
    (name) => millisecondsOf(call.headers.get(name)) ?? Infinity,
  );
  const totalMs = timeoutsOf(call, gateway.timeouts).totalMs;
  return Math.min(totalMs, ...limits) - (performance.now() - call.startedAt);
}

/** The timeouts of the call's deployment, else those of the gateway. */
export function timeoutsOf(call: Call, timeouts: UpstreamTimeouts): UpstreamTimeouts {
  const target = call.attempt?.target;
  return target?.timeouts ?? target?.deployment.timeouts ?? timeouts;
}

/** Milliseconds; `undefined` if the text is not a positive number. */
function millisecondsOf(text: string | null): number | undefined {
  const seconds = text === null ? Number.NaN : Number(text);
  return seconds > 0 && Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function timeout(what: string, ms: number): GatewayError {
  return new GatewayError("timeout", `${what} ${Math.round(ms / 100) / 10} s.`, { code: "timeout" });
}

/** Time in which usage and the terminator may follow the finish reason. Milliseconds. */
const TERMINATOR_MS = 3_500;
/** Time for a provider that sends an event in small pieces. Milliseconds. */
const LONGEST_MS = 30_000;

/**
 * Ends an answer that has its finish reason but not its terminator. Some providers then leave the connection open and send
 * nothing more: the answer is complete, and waiting for the idle timeout would turn it into a failure.
 */
export class TerminatorTimeout implements Watcher {
  place: number | undefined = undefined;
  readonly #clock: Clock;
  readonly #onTimeout: () => void;
  #since: number | undefined;
  #startedAt = 0;

  /** @param onTimeout called once after the timeout */
  constructor(clock: Clock, onTimeout: () => void) {
    this.#clock = clock;
    this.#onTimeout = onTimeout;
  }

  /** Starts the timeout, unless it runs. */
  start(): void {
    if (this.#since !== undefined) return;
    this.#since = this.#startedAt = performance.now();
    this.#clock.add(this);
  }

  /** Part of an event has come: the timeout resets, so that an event is not cut while it arrives. */
  postpone(): void {
    this.start();
    const now = performance.now();
    if (now - this.#startedAt < LONGEST_MS) this.#since = now;
  }

  stop(): void {
    if (this.#since === undefined) return;
    this.#since = undefined;
    this.#clock.remove(this);
  }

  tick(now: number): void {
    if (this.#since === undefined || now - this.#since < TERMINATOR_MS) return;
    this.stop();
    this.#onTimeout();
  }
}
