/** How many calls may be in flight: of all clients, and of one. Counted, so that a flood is refused and not queued. */
import { GatewayError } from "../core/error.ts";

export interface AdmissionLimits {
  /** Calls in flight at once; 0 for any number. */
  calls: number;
  /** The same for one gateway key, or for one address where there are no keys. */
  callsPerClient: number;
}

/** Seconds a refused client is told to wait. */
const RETRY_AFTER = 1;

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #byClient = new Map<string, number>();
  #all = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Whether anything is limited at all. */
  get counts(): boolean {
    return this.#limits.calls > 0 || this.#limits.callsPerClient > 0;
  }

  /**
   * Takes a place, to be given back with {@link leave}. @returns the client.
   * @throws GatewayError `rate-limited` when this client has too many calls in flight, `overloaded` when all have.
   */
  enter(client: string): string {
    const { calls, callsPerClient } = this.#limits;
    const own = this.#byClient.get(client) ?? 0;
    if (callsPerClient > 0 && own >= callsPerClient)
      throw new GatewayError(
        "rate-limited",
        `There are ${own} calls of yours in flight, and the gateway takes ${callsPerClient} at once; wait for one to end.`,
        { code: "too_many_calls", retryAfter: RETRY_AFTER },
      );
    if (calls > 0 && this.#all >= calls)
      throw new GatewayError(
        "overloaded",
        "The gateway has as many calls in flight as it takes; try again soon.",
        {
          code: "too_many_calls",
          retryAfter: RETRY_AFTER,
        },
      );
    this.#all++;
    this.#byClient.set(client, own + 1);
    return client;
  }

  leave(client: string): void {
    this.#all--;
    const own = (this.#byClient.get(client) ?? 1) - 1;
    if (own > 0) this.#byClient.set(client, own);
    else this.#byClient.delete(client);
  }
}
