/** The part of a gateway that answers repeats of requests. Its code is loaded when a config first turns it on. */
import type { Config } from "../config/schema.ts";
import type { PaidOnce, PaidOnceContext } from "../gateway/paid-once/index.ts";

export class Repeats {
  readonly #context: PaidOnceContext;
  #paidOnce: PaidOnce | undefined;

  constructor(context: PaidOnceContext) {
    this.#context = context;
  }

  /** Call this before {@link of} with each new config. Kept answers survive a reload. */
  async prepare({ paidOnce: options, timeouts }: Config): Promise<void> {
    if (this.#paidOnce) return this.#paidOnce.renew(options, timeouts);
    if (!options.enabled) return;
    const { PaidOnce } = await import("../gateway/paid-once/index.ts");
    this.#paidOnce = new PaidOnce(options, timeouts, this.#context);
  }

  of({ paidOnce: { enabled } }: Config): { paidOnce?: PaidOnce } {
    return enabled && this.#paidOnce ? { paidOnce: this.#paidOnce } : {};
  }

  /** The gateway stops: ends the calls that are read on without a client. */
  close(): void {
    this.#paidOnce?.close();
  }
}
