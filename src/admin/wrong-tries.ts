/** Counts wrong credentials by client address, so that an address cannot try many. */

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
