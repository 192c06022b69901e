/** The parts of the books of one node. */
import type { BooksClock } from "./clock.ts";
import type { isAlive } from "./peers.ts";
import type { BookStore } from "../store/store.ts";

export interface BooksOptions {
  store: BookStore;
  /** Maximum time between the arrival of a record and its commit, milliseconds. */
  syncMs?: number;
  /** File of what the store refuses; absent: it is lost. */
  refused?: string;
  /** Folder of the cells; absent: all that a dead worker was granted is assumed. */
  cells?: string;
  clock?: BooksClock;
  /** Default: {@link isAlive}. */
  isAlive?: typeof isAlive;
}
