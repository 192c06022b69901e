/** Reports the state of this worker to the keeper once a second: for metrics and the console. */
import type { Clock } from "../gateway/delivery/clock.ts";
import type { Health } from "../gateway/retry/health.ts";
import type { GatewayAddress } from "../ledger/messages.ts";
import type { WorkerMeter } from "../ledger/worker/meter.ts";
import type { WorkerLedger } from "../ledger/worker/ledger.ts";

const EVERY_MS = 1000;

export interface StateReporterOptions {
  ledger: WorkerLedger;
  meter: WorkerMeter;
  health: Health;
  /** The calls that run. */
  clock: Clock;
  /** Absent while the worker does not listen. */
  gateway(): GatewayAddress | undefined;
}

export class StateReporter {
  readonly #options: StateReporterOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  #due = performance.now() + EVERY_MS;
  #loopLag = 0;
  #memory = 0;
  /** Running calls are reported until then; monotonic milliseconds. */
  #watchedUntil = 0;

  constructor(options: StateReporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), EVERY_MS);
    this.#timer.unref();
  }

  /** Sends the state at once, and until `ms` have passed with the calls that run. */
  watch(ms: number): void {
    const now = performance.now();
    const isNew = this.#watchedUntil <= now;
    this.#watchedUntil = Math.max(this.#watchedUntil, now + ms);
    if (isNew) this.#report(now);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    this.#loopLag = Math.max(0, now - this.#due) / 1000;
    this.#due = now + EVERY_MS;
    this.#report(now);
  }

  /** Bytes. Linux has them in a file, which cannot be opened while the process has no descriptor left: then the last ones. */
  #memoryInUse(): number {
    try {
      this.#memory = process.memoryUsage.rss();
    } catch {}
    return this.#memory;
  }

  #report(now: number): void {
    const { ledger, meter, health, clock, gateway } = this.#options;
    meter.flush();
    const address = gateway();
    ledger.report({
      breakers: health.breakers(now),
      memory: this.#memoryInUse(),
      loopLag: this.#loopLag,
      ...(address && { gateway: address }),
      ...(now < this.#watchedUntil && { running: ledger.running(clock.calls()) }),
    });
  }
}
