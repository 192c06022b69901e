/** Ends an answer that a guard keeps back if its provider is silent, which nothing else sees then, or if it is too long to be held. */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { UpstreamTimeouts } from "../../../core/provider.ts";
import type { Clock, Watcher } from "../../../gateway/delivery/clock.ts";
import { timeoutsOf } from "../../../gateway/delivery/deadline.ts";
import { type ByteSource, idleTimeout, Passed } from "../../../gateway/delivery/stream.ts";
import type { Receiver } from "../../../gateway/lanes/transport.ts";

/** What tells that a provider is silent for too long. */
export interface Patience {
  readonly call: Call;
  readonly clock: Clock;
  readonly timeouts: UpstreamTimeouts;
}

export class PatientSource extends Passed implements Watcher {
  place: number | undefined = undefined;
  readonly #patience: Patience;
  /** Monotonic milliseconds since which the provider is asked for bytes. */
  #since = 0;
  #isOver = false;
  /** Bytes that may still come. */
  #left: number;

  /** @param most bytes that are held; absent: they go on piece by piece */
  constructor(inner: ByteSource, patience: Patience, most = Infinity) {
    super(inner);
    this.#patience = patience;
    this.#left = most;
  }

  protected override takeInto(receiver: Receiver): void {
    this.#since = performance.now();
    this.#patience.clock.add(this);
    super.takeInto(receiver);
  }

  override piece(bytes: Uint8Array): void {
    this.#patience.clock.remove(this);
    if (this.#isOver) return;
    this.#left -= bytes.length;
    if (this.#left < 0) this.#endWith(tooLong());
    else super.piece(bytes);
  }

  override end(): void {
    this.#patience.clock.remove(this);
    if (!this.#isOver) super.end();
  }

  override fail(thrown: unknown): void {
    this.#patience.clock.remove(this);
    if (!this.#isOver) super.fail(thrown);
  }

  override stop(reason: unknown): void {
    this.#patience.clock.remove(this);
    super.stop(reason);
  }

  tick(now: number): void {
    // The deadline of the first byte counts until the answer begins.
    if (this.isWaiting) return;
    const { call, timeouts } = this.#patience;
    const { gapMs } = timeoutsOf(call, timeouts);
    if (now - Math.max(this.#since, call.attempt?.heardAt ?? 0) <= gapMs) return;
    this.#endWith(idleTimeout(gapMs));
  }

  #endWith(error: GatewayError): void {
    this.stop(error);
    this.fail(error);
    this.#isOver = true;
  }
}

function tooLong(): GatewayError {
  return new GatewayError(
    "upstream",
    "The answer is too long for a guard that holds it as a whole. Ask for a shorter one.",
    { code: "upstream_too_large" },
  );
}
