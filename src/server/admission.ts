/** Limits the calls in flight, of all clients and of each client. weir refuses calls beyond a limit and has no queue. */
import { GatewayError } from "../core/error.ts";

export interface AdmissionLimits {
  /** Maximum number of calls in flight; 0: no limit. */
  calls: number;
  /** The same for each gateway key, or for each client address if there are no keys. */
  callsPerClient: number;
}

/** `retry-after` of a refusal. Seconds. */
const RETRY_AFTER = 1;

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #byClient = new Map<string, number>();
  #all = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Whether there is a limit. */
  get isLimited(): boolean {
    return this.#limits.calls > 0 || this.#limits.callsPerClient > 0;
  }

  /**
   * Counts a call until {@link leave}. @param client gateway key or address @returns the client
   * @throws GatewayError `rate-limited` at the limit of the client, `overloaded` at the limit of all clients
   */
  enter(client: string): string {
    const { calls, callsPerClient } = this.#limits;
    const own = this.#byClient.get(client) ?? 0;
    if (callsPerClient > 0 && own >= callsPerClient)
      throw new GatewayError(
        "rate-limited",
        `You have ${own} calls in flight, and the limit for one client is ${callsPerClient}; wait until one has ended.`,
        { code: "too_many_calls", retryAfter: RETRY_AFTER },
      );
    if (calls > 0 && this.#all >= calls)
      throw new GatewayError(
        "overloaded",
        `The gateway has reached its limit of ${calls} calls in flight; retry in ${RETRY_AFTER} s.`,
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
