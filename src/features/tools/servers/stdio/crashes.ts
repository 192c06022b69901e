/** How often programs ended by themselves lately, and when they may be started again. */

/** Time until the next start after the first crash; each further one doubles it. Milliseconds. */
const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** A program that ran this long has recovered. Milliseconds. */
const WINDOW_MS = 60_000;
/** With more crashes in {@link WINDOW_MS} it is down. */
const MOST = 5;
const MOST_PROGRAMS = 1000;

interface Crashed {
  /** The last ones, at most {@link MOST} and one. Milliseconds of the monotonic clock. */
  readonly times: number[];
  readonly server: string;
  inRow: number;
  why: string;
}

/** When a program may start. */
export interface Standing {
  /** Time until then. Milliseconds. */
  readonly waitMs: number;
  /** It ended more than {@link MOST} times in a minute. */
  readonly isDown: boolean;
  /** How it ended last: a clause. */
  readonly why: string;
}

export class Crashes {
  readonly #crashed = new Map<string, Crashed>();

  /** @param owner any text @param why a clause @param now milliseconds of the monotonic clock */
  add(server: string, owner: string, why: string, now: number): Standing {
    const key = keyOf(server, owner);
    const known = this.#crashed.get(key) ?? { times: [], server, inRow: 0, why };
    if (now - (known.times.at(-1) ?? now) > WINDOW_MS) known.inRow = 0;
    known.times.push(now);
    if (known.times.length > MOST + 1) known.times.shift();
    known.inRow++;
    known.why = why;
    if (this.#crashed.size >= MOST_PROGRAMS) this.#prune(now);
    this.#crashed.set(key, known);
    return this.of(server, owner, now)!;
  }

  /** @returns undefined if it has not crashed lately */
  of(server: string, owner: string, now: number): Standing | undefined {
    const known = this.#crashed.get(keyOf(server, owner));
    if (!known) return undefined;
    const { times, inRow, why } = known;
    const last = times.at(-1)!;
    const nextMs = last + Math.min(LONGEST_MS, FIRST_MS * 2 ** (inRow - 1)) - now;
    const freeMs = times.length > MOST ? times[0]! + WINDOW_MS - now : 0;
    return { waitMs: Math.max(0, nextMs, freeMs), isDown: freeMs > 0, why };
  }

  forget(server: string): void {
    for (const [key, crashed] of this.#crashed) if (crashed.server === server) this.#crashed.delete(key);
  }

  #prune(now: number): void {
    for (const [key, { times }] of this.#crashed)
      if (now - times.at(-1)! > WINDOW_MS) this.#crashed.delete(key);
    // Many that crash at once: the oldest may start a little early.
    for (const key of this.#crashed.keys())
      if (this.#crashed.size < MOST_PROGRAMS) break;
      else this.#crashed.delete(key);
  }
}

function keyOf(server: string, owner: string): string {
  return `${server} ${owner}`;
}
