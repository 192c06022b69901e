/** Calls that wait for the keeper because a share does not suffice. */
import type { BooksChannel } from "../channel.ts";
import type { BooksUp, Grant, Refusal } from "../messages.ts";
import type { Share } from "./share.ts";

/**
 * Longest wait for an answer of the keeper. One that is connected is only busy, longer than a query of its store may take (two
 * seconds); at first it is starting. Milliseconds.
 */
const AWAY_MS = 250;
const BUSY_MS = 3000;
const START_MS = 5000;
/**
 * While the keeper of another gateway takes over: on a machine that is busy it starts, opens the store and hears its workers in this
 * time. Milliseconds.
 */
const PASS_MS = 15_000;
/** A stream has output in reserve while it waits. Milliseconds. */
export const STREAM_MS = 3000;

/** The amount of one share that a waiting call lacks. */
export interface Short {
  share: Share;
  /** The amount that the call holds of it in the end. */
  hold: number;
}

/** One call that waits. */
export interface Waiter {
  /** It asks for all that it holds, because an earlier process held the same. */
  readonly heldBefore?: boolean;
  /** The amount that it lacks at the moment; empty if nothing. */
  shorts(): readonly Short[];
  /** Takes what it needs of all shares. @returns false if one does not suffice */
  take(): boolean;
  /** It has what it needs. */
  granted(): void;
  /** The keeper refuses; final. */
  refused(refusals: readonly Refusal[]): void;
  /** The keeper has not answered in time. */
  silent(): void;
}

interface Ask {
  waiter: Waiter;
  shorts: readonly Short[];
  needs: readonly { account: string; need: number }[];
  timer: Timer;
  /** When its waiter gives up; monotonic milliseconds. */
  until: number;
  /** Its waiter has asked before. */
  isRepeated: boolean;
  /** See {@link Waiter.heldBefore}: of the first ask. */
  heldBefore: boolean;
}

export class Asks {
  readonly #channel: BooksChannel;
  readonly #shareOf: (account: string) => Share | undefined;
  readonly #asks = new Map<number, Ask>();
  #number = 0;
  #wasUp = false;
  /** The next keeper has answered nothing yet. */
  #isPassing = false;

  /** @param shareOf the share to which a grant is added */
  constructor(channel: BooksChannel, shareOf: (account: string) => Share | undefined) {
    this.#channel = channel;
    this.#shareOf = shareOf;
  }

  /** @param ms longest wait for an answer */
  ask(waiter: Waiter, ms: number = this.#patience()): void {
    const { heldBefore = false } = waiter;
    this.#send(waiter, performance.now() + ms, heldBefore, heldBefore);
  }

  /**
   * @param until when the waiter gives up, however often it asks
   * @param isRepeated it asks for all that it holds: the keeper may have called back what its share had at the first ask
   */
  #send(waiter: Waiter, until: number, isRepeated: boolean, heldBefore = false): void {
    const shorts = waiter.shorts();
    // What was left for earlier calls that wait is not asked for again.
    const needs = shorts.map((short) => ({
      account: short.share.account,
      need: isRepeated ? short.hold : needOf(short),
    }));
    for (const { share, hold } of shorts) share.wanted += hold;
    const number = ++this.#number;
    const timer = setTimeout(
      () => {
        if (this.#end(number)) waiter.silent();
      },
      Math.max(0, until - performance.now()),
    );
    const ask: Ask = { waiter, shorts, needs, timer, until, isRepeated, heldBefore };
    this.#asks.set(number, ask);
    this.#channel.send(askOf(number, ask));
  }

  /** Asks once more, unless its time is over: a loop of asks and grants must end. */
  #again({ waiter, until }: Ask): void {
    if (performance.now() < until) this.#send(waiter, until, true);
    else waiter.silent();
  }

  /** A grant that comes too late for its call stays in the share. */
  grant(number: number, grants: readonly Grant[]): void {
    this.#isPassing = false;
    for (const grant of grants) {
      const { account, amount } = grant;
      const share = this.#shareOf(account);
      if (share) note(share, grant);
      if (share) share.add(amount);
      else this.#channel.send({ kind: "return", account, amount, number: 0 });
    }
    const ask = this.#end(number);
    if (!ask) return;
    if (ask.waiter.take()) ask.waiter.granted();
    else this.#again(ask);
  }

  refuse(number: number, refusals: readonly Refusal[]): void {
    this.#isPassing = false;
    for (const refusal of refusals) {
      const share = this.#shareOf(refusal.account);
      if (share) note(share, refusal);
    }
    const ask = this.#end(number);
    if (!ask) return;
    const { waiter } = ask;
    if (waiter.take()) waiter.granted();
    else if (!ask.isRepeated && this.#needsLess(ask)) this.#again(ask);
    else waiter.refused(refusals.map((refusal) => leftFor(ask, refusal)));
  }

  /** Whether the call lacks less than it asked for, because earlier ones left something: the refusal was for another amount. */
  #needsLess({ waiter, needs }: Ask): boolean {
    return waiter.shorts().some((short) => {
      const asked = needs.find(({ account }) => account === short.share.account);
      return asked === undefined || needOf(short) < asked.need;
    });
  }

  /** The connection is new: answers to earlier asks will not come. */
  resend(): void {
    this.#wasUp = true;
    for (const [number, ask] of this.#asks) this.#channel.send(askOf(number, ask));
  }

  /** The next keeper is about to start. */
  passes(): void {
    this.#isPassing = true;
  }

  #patience(): number {
    if (this.#isPassing) return PASS_MS;
    if (this.#channel.isUp) return BUSY_MS;
    return this.#wasUp ? AWAY_MS : START_MS;
  }

  #end(number: number): Ask | undefined {
    const ask = this.#asks.get(number);
    if (!ask) return undefined;
    this.#asks.delete(number);
    clearTimeout(ask.timer);
    for (const { share, hold } of ask.shorts) share.wanted -= hold;
    return ask;
  }
}

function askOf(number: number, { needs, heldBefore }: Ask): BooksUp {
  return { kind: "ask", number, needs, ...(heldBefore && { heldBefore }) };
}

/** The amount that a call lacks besides the part that no earlier call waits for. */
function needOf({ share, hold }: Short): number {
  return hold - Math.max(0, Math.min(hold, share.left - share.wanted));
}

/** The amount left for a call: with what its worker has for it. */
function leftFor({ shorts, needs }: Ask, refusal: Refusal): Refusal {
  const short = shorts.find(({ share }) => share.account === refusal.account);
  const asked = needs.find(({ account }) => account === refusal.account);
  if (!short || !asked) return refusal;
  return { ...refusal, left: Math.max(0, refusal.left + short.hold - asked.need) };
}

function note(share: Share, { limit, left }: Pick<Grant, "limit" | "left">): void {
  if (limit !== undefined && left !== undefined) share.known = { limit, left, at: performance.now() };
}
