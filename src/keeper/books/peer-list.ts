/** All workers of the books, and the search for the dead ones. */
import type { RecordBatch } from "../../ledger/record.ts";
import type { BookAccounts } from "./book-accounts.ts";
import { emptyCells, type LeftCells, readCells } from "./cells.ts";
import { withSpends } from "./claims.ts";
import type { BooksClock } from "./clock.ts";
import type { isAlive, Peer } from "./peers.ts";
import type { Recorder } from "../record/recorder.ts";

/** Interval at which weir looks whether a worker without a connection has ended. Milliseconds. */
const LOOK_MS = 10;
/** A worker whose process is not known counts as ended after this time without a connection. Milliseconds. */
const UNKNOWN_MS = 2_000;

/** Reads the cells of a worker that is gone, and empties them. @returns undefined where they cannot be read */
export type TakeCells = () => LeftCells | undefined;

type Bury = (peer: Peer, take: TakeCells) => void;

/**
 * Books what a worker that is gone had been granted: what it has not used is free, what it wrote to its memory is recorded, and the
 * rest is assumed to be spent.
 */
export function bury(
  { life, worker, counted }: Peer,
  take: TakeCells,
  accounts: BookAccounts,
  recorder: Pick<Recorder, "assume">,
  record: (batch: RecordBatch) => void,
): void {
  accounts.doubt();
  const cells = take();
  for (const batch of cells?.batches() ?? []) if (batch.seq > counted) record(withSpends(batch, accounts));
  for (const account of accounts.all()) {
    if (!account.shares.has(life)) continue;
    const assumed = account.bury(life, cells?.leftOf(account.id) ?? 0);
    if (assumed !== 0)
      recorder.assume(account.id, assumed, `worker ${worker} ended while calls were running`);
  }
}

export class Peers {
  readonly #clock: BooksClock;
  readonly #bury: Bury;
  readonly #isAlive: typeof isAlive;
  readonly #peers = new Map<string, Peer>();
  /** Lives that are over. What a worker sent before its death may arrive after it was buried, on another connection. */
  readonly #over = new Set<string>();

  constructor(clock: BooksClock, alive: typeof isAlive, bury: Bury) {
    this.#clock = clock;
    this.#isAlive = alive;
    this.#bury = bury;
  }

  get connected(): Peer[] {
    return [...this.#peers.values()].filter(({ send }) => send !== undefined);
  }

  /** A worker without a connection comes back or is found dead. */
  get areConnected(): boolean {
    return this.connected.length === this.#peers.size;
  }

  get(life: string): Peer | undefined {
    return this.#peers.get(life);
  }

  /** The worker of a life, which may be new. @returns undefined for a life that is over */
  meet({
    life,
    worker,
    cells,
    counted,
  }: Pick<Peer, "life" | "worker" | "cells" | "counted">): Peer | undefined {
    if (this.#over.has(life)) return undefined;
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

  /** A life is over, and nothing of it is to be buried. */
  forget(life: string): void {
    this.#over.add(life);
    this.#peers.delete(life);
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
    peer.send = undefined;
    this.forget(peer.life);
    this.#bury(peer, () => {
      const cells = peer.cells === undefined ? undefined : readCells(peer.cells);
      emptyCells(peer.cells);
      return cells;
    });
  }
}
