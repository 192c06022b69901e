/** Ends an answer whose provider is silent while a guard keeps it back: no one else hears the provider then. */
import type { Call } from "../../../core/call.ts";
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

  constructor(inner: ByteSource, patience: Patience) {
    super(inner);
    this.#patience = patience;
  }

  protected override takeInto(receiver: Receiver): void {
    this.#since = performance.now();
    this.#patience.clock.add(this);
    super.takeInto(receiver);
  }

  override piece(bytes: Uint8Array): void {
    this.#patience.clock.remove(this);
    if (!this.#isOver) super.piece(bytes);
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
    const silent = idleTimeout(gapMs);
    this.stop(silent);
    this.fail(silent);
    this.#isOver = true;
  }
}
