/**
 * The store as the books use it. A gateway is one node of the store: alone with a file, beside others with PostgreSQL.
 * Money is drawn by the node from the store, and granted by the node to its workers.
 */
import type { Budget, Declared, KeyEntry, Policy, RateLimit } from "../../ledger/policy.ts";
import type { Margin } from "../../ledger/margins.ts";
import type { Nano } from "../../ledger/money.ts";
import type { PriceRule } from "../../ledger/charge.ts";
import type { CallRecord, Spend } from "../../ledger/record.ts";
import type { Sql } from "./sql.ts";

/** One window of a budget in the store. Always: spent + assumed + granted ≤ limit + overrun, for a hard budget. */
export interface AccountRow {
  account: string;
  budget: string;
  /** Milliseconds since 1970; `endsAt` is absent for `total`. */
  startsAt: number;
  endsAt?: number;
  spent: Nano;
  assumed: Nano;
  overrun: Nano;
  /** Drawn by all nodes, and neither booked nor returned. */
  granted: Nano;
  /** The part of `granted` that this node has drawn. */
  own: Nano;
  /** The highest percentage that was reported in this window. */
  alerted: number;
}

export interface Draw {
  account: string;
  budget: string;
  startsAt: number;
  endsAt?: number;
  limit: Nano;
  /** `false` for soft budgets: something is granted while anything is left. */
  hard: boolean;
  need: Nano;
  want: Nano;
}

/** The result of a draw: what was granted (0 or at least `need`), and the window afterwards. */
export interface Drawn {
  amount: Nano;
  row: AccountRow;
  /** Another node has not said what it can return, and that may suffice. */
  isUnclear?: boolean;
}

/** Everything that one commit writes, in one transaction. */
export interface Commit {
  /** A commit with a number is applied once, however often it is repeated. `life`: names a run of the keeper. */
  once?: { life: string; seq: number };
  /** The batches of workers: applied once for each life and number. */
  batches: readonly {
    life: string;
    worker: number;
    seq: number;
    calls: readonly CallRecord[];
    spends: readonly Spend[];
    prices: readonly PriceRule[];
    /** Number of records that the worker had to drop; their spends are in `spends`. */
    dropped?: number;
  }[];
  /** The amount that this node returns to the store. */
  returns: readonly { account: string; amount: Nano }[];
  /** The holds of a worker that died: booked as assumed, with the reason. */
  assumptions: readonly { account: string; amount: Nano; why: string }[];
  /** Highest percentage reported, by account. */
  alerted: readonly { account: string; percent: number }[];
  /** Margins that have grown. */
  margins: readonly Margin[];
  /** Level of the rate limits, so that they survive a restart: account, level, milliseconds since 1970. */
  rates: readonly { account: string; level: number; at: number }[];
}

/** Who changes something, for the audit log. */
export interface Actor {
  /** Id of an admin key, `run-file`, `console` or `cli`. */
  actor: string;
  address?: string;
}

/** Version of an entry that a change expects; 0: the entry does not exist. Absent: any. */
export interface Expected {
  version?: number;
}

/** Notices of a store to its node. */
export interface StoreEvents {
  /** Another node has changed keys, budgets or rate limits, or the store was recovered. */
  changed(): void;
  /**
   * Another node needs money of an account: this one recalls it from its workers and returns what no call holds.
   * @returns when the commit is in the store, with the amount @throws Error if a worker has not answered
   */
  recall(account: string): Promise<Nano>;
  /**
   * Another node has changed a budget: this one reads the policy, and recalls what its workers were granted of the budget.
   * @throws Error if a worker has not answered
   */
  settle(budget: string): Promise<void>;
  /** The store cannot be reached, in one sentence; `undefined`: it is back. */
  state(fault: string | undefined): void;
  /** A commit is in the store without rows of a feature. */
  lost(rows: LostRows): void;
}

/** Calls whose rows in the tables of a feature are not written. */
export interface LostRows {
  feature: string;
  calls: number;
  cause: unknown;
}

/** A node's need of a rate limit that it shares with other nodes. */
export interface RateDemand {
  account: string;
  /** The limit of all nodes together. */
  limit: number;
  /** Tokens asked for since the last time. */
  asked: number;
  /** Places of calls that run, which the node cannot give up; 0 for what refills. */
  used: number;
  /** How long the limit takes to refill; 0 for places. Milliseconds. */
  periodMs: number;
}

/** The part of a rate limit that a node has now. */
export interface RatePart {
  /** 0 to 1; together the parts of all nodes are at most 1. */
  part: number;
  /** The tokens that a part that has grown brings with it: those that no node has used, up to the whole limit. */
  credit: number;
}

/** The store cannot be reached, or does not answer in time: what was asked for may work later. */
export class StoreLost extends Error {
  override name = "StoreLost";
}

/** Hard budgets of a store that was recovered grant nothing until an administrator releases them. */
export class BudgetsClosed extends StoreLost {
  override name = "BudgetsClosed";
}

export interface BookStore {
  /** Why hard budgets are closed, in one sentence; absent if they are not. */
  readonly closedBecause?: string;
  /** Other nodes may use the same store. */
  readonly isShared: boolean;
  /** Called once, before `open`. */
  watch?(events: StoreEvents): void;
  /**
   * The parts of rate limits that are this node's. Only a shared store has them. A node asks once a second; a limit that it has
   * not asked for yet has the part 0. While the server is away the parts stay, and become small after ten seconds.
   */
  shareRates?(demands: readonly RateDemand[]): Promise<ReadonlyMap<string, RatePart>>;
  /** @throws Error with one sentence */
  open(): Promise<void>;
  close(): Promise<void>;

  /** Whether a key is stored; the keys of configs do not count. `closed`: a call key is stored, also a revoked one. */
  policy(): Promise<Omit<Policy, "keyBudgets">>;
  /** Writes what the config declares, so that figures can name it; it replaces what was declared before. */
  declare(declared: Declared, prices: readonly PriceRule[]): Promise<void>;
  /** Saving creates or replaces an entry. @returns its version @throws VersionConflict if it is not of the expected version */
  saveKey(key: KeyEntry, actor: Actor, expected?: Expected): Promise<number>;
  saveBudget(budget: Budget, actor: Actor, expected?: Expected): Promise<number>;
  deleteBudget(id: string, actor: Actor): Promise<boolean>;
  /** After a change of a budget: the other nodes settle it. Only a shared store has them. @returns the nodes that have not done it in time */
  settled?(budget: string): Promise<readonly string[]>;
  saveRate(rate: RateLimit, actor: Actor, expected?: Expected): Promise<number>;
  deleteRate(id: string, actor: Actor): Promise<boolean>;

  /** Changes the policy in another way; the nodes of the store read it again. @param now milliseconds since 1970 */
  change<Value>(work: (sql: Sql, now: number) => Promise<Value>): Promise<Value>;

  /** The windows that are open now, and ended ones in which this node still has money. */
  accounts(now: number): Promise<readonly AccountRow[]>;
  /**
   * Grants all draws or none.
   * @param isLast a refusal is final: other nodes are asked for what they have drawn and do not need
   */
  draw(draws: readonly Draw[], isLast?: boolean): Promise<readonly Drawn[]>;
  /**
   * What is assumed for calls of processes that have ended is drawn again for one that goes on in their place: no more than is
   * assumed besides the charges of calls.
   * @returns the amount
   */
  reclaim(account: string, most: Nano, why: string): Promise<Nano>;
  commit(commit: Commit): Promise<void>;
  /** The newest batch of each life that is in the store. */
  positions(): Promise<ReadonlyMap<string, number>>;
  rates(): Promise<readonly { account: string; level: number; at: number }[]>;
  /** @returns with the time of each, milliseconds since 1970 */
  margins(): Promise<readonly (Margin & { at: number })[]>;
}

/** All that a node needs of its store at the start. @param now milliseconds since 1970 */
export async function readStore(store: BookStore, now: number) {
  await store.open();
  for (;;) {
    const before = store.closedBecause;
    const read = {
      policy: await store.policy(),
      positions: await store.positions(),
      rows: await store.accounts(now),
      levels: await store.rates(),
      margins: await store.margins(),
    };
    // Else one of the reads has found damage, and the others were of the file that is set aside.
    if (store.closedBecause === before) return read;
  }
}
