/** Counts wrong credentials by client address, so that an address cannot try many. */
import { AdminError } from "../operator/errors.ts";

const WINDOW_MS = 60_000;
const MOST = 5;
/** Addresses that are remembered; beyond it the oldest is forgotten. */
const ADDRESSES = 10_000;

export class WrongTries {
  readonly #times = new Map<string, number[]>();

  /** @returns milliseconds until the address may try again; 0: now */
  waitOf(address: string, now: number): number {
    const times = this.#recent(address, now);
    return times.length < MOST ? 0 : times[times.length - MOST]! + WINDOW_MS - now;
  }

  /** @throws AdminError 429 if the address has to wait */
  expectFew(address: string, now: number): void {
    const wait = this.waitOf(address, now);
    if (wait === 0) return;
    const seconds = Math.ceil(wait / 1_000);
    throw new AdminError(
      429,
      "too_many_tries",
      `There were too many wrong keys from this address; try again in ${seconds} s.`,
      { headers: { "retry-after": String(seconds) } },
    );
  }

  /** Wrong credentials that the address may still give before it waits. */
  leftOf(address: string, now: number): number {
    return Math.max(0, MOST - this.#recent(address, now).length);
  }

  add(address: string, now: number): void {
    const times = [...this.#recent(address, now), now];
    this.#times.delete(address);
    this.#times.set(address, times);
    if (this.#times.size > ADDRESSES) this.#times.delete(this.#times.keys().next().value!);
  }

  #recent(address: string, now: number): number[] {
    return (this.#times.get(address) ?? []).filter((at) => now - at < WINDOW_MS);
  }
}
