/** The part of a gateway that answers repeats of requests. Its code is loaded when a config first turns it on. */
import { timeouts } from "../../config/sections/requests.ts";
import type { Arrival, Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import type { IdentifiedRequest } from "./identity.ts";
import type { RepeatDown, RepeatUp } from "./messages.ts";
import type { PaidOnce } from "./paid-once.ts";
import { paidOnceSection } from "./section.ts";

export const start = (host: WorkerHost): WorkerPart => new Repeats(host);

class Repeats implements WorkerPart {
  readonly #host: WorkerHost;
  /** Kept answers survive a reload. */
  #paidOnce: PaidOnce | undefined;

  constructor(host: WorkerHost) {
    this.#host = host;
  }

  async seams(config: object): Promise<Seams | undefined> {
    const options = paidOnceSection.of(config);
    const limits = timeouts.of(config);
    this.#paidOnce?.renew(options, limits);
    if (!options.enabled) return undefined;
    if (!this.#paidOnce) {
      const { PaidOnce } = await import("./paid-once.ts");
      const { clock, ledger, isAlone } = this.#host;
      const repeats = isAlone ? undefined : this.#host.channel<RepeatUp, RepeatDown>();
      this.#paidOnce = new PaidOnce(options, limits, { clock, ledger, repeats });
    }
    return seamsOf(this.#paidOnce);
  }

  /** Ends the calls that are read on without a client. */
  stop(): void {
    this.#paidOnce?.close();
  }
}

function seamsOf(paidOnce: PaidOnce): Seams {
  return {
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
}

/** @param bytes the body, if weir has read it */
function identified({ call, http, address }: Arrival, bytes?: Uint8Array): IdentifiedRequest {
  const { headers, url } = http;
  return { headers, url, key: call.principal?.id, address: address(), ...(bytes && { bytes }) };
}
