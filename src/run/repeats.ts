/** The part of a gateway that answers repeats of requests. Its code is loaded when a config first turns it on. */
import type { Config } from "../config/schema.ts";
import type { LivePart } from "../gateway/life.ts";
import type { IdentifiedRequest } from "../gateway/paid-once/identity.ts";
import type { PaidOnce, PaidOnceContext } from "../gateway/paid-once/index.ts";
import type { Arrival, Seams } from "../gateway/seams.ts";

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

  of({ paidOnce: { enabled } }: Config): readonly LivePart[] {
    const paidOnce = this.#paidOnce;
    if (!enabled || !paidOnce) return [];
    const seams: Seams = {
      around: {
        at: "repeat",
        run: ({ arrival, operation, call, bytes, registry }, next) =>
          arrival && operation === "generate"
            ? paidOnce.take(call, identified(arrival, bytes), next, registry)
            : next(),
      },
      refused: (arrival, status) => {
        if (!paidOnce.hasTaken(arrival.call)) paidOnce.refused(identified(arrival), status);
      },
    };
    return [{ name: "paid-once", seams }];
  }

  /** The gateway stops: ends the calls that are read on without a client. */
  close(): void {
    this.#paidOnce?.close();
  }
}

/** @param bytes the body, if weir has read it */
function identified({ call, http, address }: Arrival, bytes?: Uint8Array): IdentifiedRequest {
  const { headers, url } = http;
  return { headers, url, key: call.access?.id, address: address(), ...(bytes && { bytes }) };
}
