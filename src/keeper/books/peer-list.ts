/** All workers of the books, and the search for the dead ones. */
import { readCells, removeCells } from "./cells.ts";
import type { BooksClock } from "./clock.ts";
import type { isAlive, Peer } from "./peers.ts";

/** Interval at which weir looks whether a worker without a connection has ended. Milliseconds. */
const LOOK_MS = 10;
/** A worker whose process is not known counts as ended after this time without a connection. Milliseconds. */
const UNKNOWN_MS = 2_000;

export class Peers {
  readonly #clock: BooksClock;
  readonly #bury: (peer: Peer, left: (account: string) => number) => void;
  readonly #isAlive: typeof isAlive;
  readonly #peers = new Map<string, Peer>();

  /** @param bury called when a worker is gone, with what it had not used of each account */
  constructor(
    clock: BooksClock,
    alive: typeof isAlive,
    bury: (peer: Peer, left: (account: string) => number) => void,
  ) {
    this.#clock = clock;
    this.#isAlive = alive;
    this.#bury = bury;
  }

  get connected(): Peer[] {
    return [...this.#peers.values()].filter(({ send }) => send !== undefined);
  }

  get(life: string): Peer | undefined {
    return this.#peers.get(life);
  }

  /** The worker of a life, which may be new. */
  meet({ life, worker, cells, counted }: Pick<Peer, "life" | "worker" | "cells" | "counted">): Peer {
    const known = this.#peers.get(life);
    if (known) return known;
    const peer: Peer = {
      ...{ life, worker, cells, counted },
      ...{ send: undefined, claim: undefined, state: undefined, isKnown: false },
    };
    this.#peers.set(life, peer);
    return peer;
  }

  /** The connection of a worker has ended: it comes back, or its process has ended. */
  lost(peer: Peer): void {
    peer.send = undefined;
    this.#look(peer, this.#clock.monotonic() + UNKNOWN_MS);
  }

  buryAll(): void {
    for (const peer of [...this.#peers.values()]) this.#end(peer);
  }

  #look(peer: Peer, until: number): void {
    if (peer.send || this.#peers.get(peer.life) !== peer) return;
    const alive = this.#isAlive(peer.cells);
    if (alive === false || (alive === undefined && this.#clock.monotonic() >= until)) return this.#end(peer);
    this.#clock.after(LOOK_MS, () => this.#look(peer, until));
  }

  #end(peer: Peer): void {
    const cells = peer.cells === undefined ? undefined : readCells(peer.cells);
    removeCells(peer.cells);
    peer.send = undefined;
    this.#peers.delete(peer.life);
    this.#bury(peer, (account) => cells?.leftOf(account) ?? 0);
  }
}
