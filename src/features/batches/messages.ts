/** What the parts of batches in workers and in the keeper tell each other. */
import type { Batch, State } from "./batch.ts";
import type { Booked } from "./booked.ts";
import type { Owner, Seer } from "./owner.ts";
import type { Webhook } from "./section.ts";
import type { Need } from "./waiting.ts";

/** What a runner tells of a batch. Numbers replace those of before. */
export interface Progress {
  readonly to?: State;
  readonly facts?: Partial<
    Pick<
      Batch,
      | "lines"
      | "done"
      | "failed"
      | "cancelled"
      | "late"
      | "inputFile"
      | "outputFile"
      | "errorFile"
      | "faults"
      | "usage"
      | "cost"
      | "held"
      | "reason"
      | "model"
      | "how"
    >
  >;
}

export interface Page {
  readonly limit: number;
  /** Ids between which the page lies, exclusive. */
  readonly after?: string;
  readonly before?: string;
}

export interface NewRow {
  readonly batch: Batch;
  readonly owner: Owner;
  /** Batches of a key that may be open. */
  readonly most: number;
  /** Tokens of a key that may wait. */
  readonly queued: number;
  /** Absent: they are not known yet. */
  readonly needs?: readonly Need[];
}

/** A question of a worker; its one member says what it is about. */
export type BatchAsk =
  | { readonly create: NewRow }
  /** The lines of a large input are added up. */
  | { readonly reserve: RunnerId & { readonly needs: readonly Need[] } }
  | { readonly get: { readonly id: string; readonly seer: Seer } }
  | { readonly list: Page & { readonly seer: Seer } }
  | { readonly cancel: { readonly id: string; readonly seer: Seer } }
  | { readonly remove: { readonly id: string; readonly seer: Seer } }
  /** A runner that a fault has stopped goes on: as another one, because its journal may end in a broken record. */
  | { readonly again: RunnerId }
  /** What the format of a reader could not carry of all results. @param reader a vendor */
  | { readonly lost: { readonly id: string; readonly reader: string; readonly sum: number } }
  /** What the books have of its lines. */
  | { readonly booked: { readonly id: string } }
  | { readonly progress: Progress & RunnerId };

/** `refused`: the sentence for the client, and its code. */
export type BatchAnswer =
  | { readonly batch: Batch }
  | { readonly batches: readonly Batch[]; readonly hasMore: boolean }
  /** A new runner: its number, and until when it has the batch, in milliseconds since 1970. */
  | { readonly fence: number; readonly until: number }
  | { readonly booked: readonly Booked[] }
  | { readonly none: true }
  /** A hard budget does not suffice for the batch beside those that wait. */
  | { readonly excess: Need }
  /** Tokens of the key that wait already. */
  | { readonly queued: number }
  | { readonly refused: "batch_limit" | "ended" | "running" | "stale"; readonly batch?: Batch };

/** A runner of a batch: the id of the batch, and the fencing number. */
export interface RunnerId {
  readonly id: string;
  readonly fence: number;
}

/** A batch that a worker is to run. */
export interface Run {
  readonly batch: Batch;
  readonly owner: Owner;
  readonly fence: number;
  /** Folder of its journals. */
  readonly folder: string;
  /** Key of its lines at rest: 32 bytes as base64url. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

export type BatchesUp =
  | { readonly number: number; readonly ask: BatchAsk }
  /**
   * The worker runs batches, and has these runners. It repeats that while it has run any, which renews their leases.
   * @param isFull it takes no more of them
   */
  | { readonly ready: readonly RunnerId[]; readonly folder?: string; readonly isFull?: true }
  /** Who learns of the end of batches, by the config of the worker; null: none. */
  | { readonly webhook: Webhook | null }
  /** The runner has ended before its batch has, and writes nothing more. */
  | { readonly gone: RunnerId };

export type BatchesDown =
  | { readonly number: number; readonly answer?: BatchAnswer }
  | { readonly run: Run }
  /** Another runner has the batch. */
  | { readonly lost: RunnerId }
  /** The runners have their batches until then. Milliseconds since 1970. */
  | { readonly held: readonly RunnerId[]; readonly until: number }
  | { readonly stop: string };
