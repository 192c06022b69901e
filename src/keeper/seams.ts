/** The seams of the keeper: a part of weir for its part in each worker, and its tables in the store of the books. */
import type { Envelope } from "../core/envelope.ts";
import type { Metric } from "../core/metric.ts";
import type { Noted } from "../core/slot.ts";
import type { Warning } from "../core/warning.ts";
import type { CallRecord } from "../ledger/record.ts";
import type { BooksObserver } from "./books/observers.ts";
import type { NameKind, Names } from "./store/names.ts";
import type { Sql } from "./store/sql.ts";
import type { Actor } from "./store/store.ts";

/** The books, as the part of a feature beside them may use them. */
export interface KeeperHost {
  /** The state folder; absent if everything stays in memory. */
  readonly folder?: string;
  /** Logs a sentence as a fault. */
  report(this: void, sentence: string): void;
  /** Adds an entry to the audit log. @param subject path of what was looked at or changed */
  note(this: void, actor: Actor, action: string, subject: string, facts?: unknown): Promise<void>;
  /**
   * Changes rows of the feature and adds an entry to the audit log, in one transaction, which PostgreSQL may repeat. Workers and
   * other nodes learn of rows of {@link FeatureTables.replicas} that it wrote.
   * @param subject path of what is changed
   * @throws what `work` throws, and StoreLost; then nothing is changed
   */
  change(this: void, actor: Actor, action: string, subject: string, work: ChangeRows): Promise<void>;
  /** Reads rows of the feature. */
  read<Value>(this: void, work: (sql: Sql) => Promise<Value>): Promise<Value>;
  /**
   * Changes rows of the feature that nobody has decided and no worker holds, in one transaction, which PostgreSQL may repeat: the
   * audit log has no entry of it.
   * @throws what `work` throws, and StoreLost; then nothing is changed
   */
  write<Value>(this: void, work: (sql: Sql) => Promise<Value>): Promise<Value>;
  /** Waits until all workers of all nodes have taken over what was changed before. @returns whether they have, within some seconds */
  settled(this: void): Promise<boolean>;
  /** Resolves when what processes of this gateway that have ended held and wrote is in the store, or after some seconds. */
  left(this: void): Promise<void>;
  /** Name of a key by its id; the id, if the books do not know it. */
  keyName(this: void, id: string): string;
  /** Adds to a counter of the feature. @param labels values in the order of the metric's labels @param amount 0 makes the series */
  count(this: void, metric: Metric, labels: readonly string[], amount: number): void;
  /** Tells the sender of alerts that something begins or ends. */
  warn(this: void, warning: Warning): void;
  /**
   * Seals texts of rows; their columns are in {@link FeatureTables.sealed}.
   * @returns undefined: several nodes share the store, and the config has no key for it
   */
  envelope(this: void): Envelope | undefined;
  /** Wraps all sealed texts with the key of now. @throws Error with a sentence without a key, and StoreLost */
  rewrap(this: void): Promise<Rewrapped>;
  /** From now on the observer hears what happens in the books. */
  observe(this: void, observer: Partial<BooksObserver>): void;
  /** What the part gives to the admin operations of its feature, by a slot that both know. */
  readonly offers: Noted;
}

/** Changes rows. @param version goes to the column `version` of rows that workers hold @returns the values for the audit log */
export type ChangeRows = (
  sql: Sql,
  version: number,
) => Promise<{ readonly before: unknown; readonly after: unknown }>;

/** A part in the keeper. The messages are its own; methods, so that parts with different messages fit into one map. */
export interface KeeperPart<Up = unknown, Down = unknown> {
  /** A worker has connected. @param send sends a message to the part of the same name there */
  connect?(send: (message: Down) => void): PartConnection<Up>;
  /** The keeper ends. No worker is connected any more. */
  close?(): void | Promise<void>;
}

/** Starts the parts of features beside the books. */
export type StartParts = (host: KeeperHost) => Promise<ReadonlyMap<string, KeeperPart>>;

export interface PartConnection<Up = unknown> {
  receive(message: Up): void;
  /** The worker is gone. */
  ended(): void;
}

/** A column with sealed texts, each sealed for `rowOf(table, column, values of key)`. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** Columns of its primary key, which are texts. */
  readonly key: readonly string[];
  /** Texts that are not sealed yet are plain. Absent: they are sealed in another way. */
  readonly isPlain?: true;
}

/** What became of sealed texts: wrapped anew, wrapped by the key before, or opened by no key. */
export interface Rewrapped {
  readonly rewrapped: number;
  readonly current: number;
  readonly unreadable: number;
}

/** The tables of a feature. A build without the feature leaves them alone. */
export interface FeatureTables {
  /** Each runs once, in one transaction; entries are only ever appended. Words in braces are those of store/schema.ts. */
  readonly migrations: readonly string[];
  /** All of them, in the order of their references: `weir store migrate` copies them, and no other feature may have one of them. */
  readonly copied: readonly string[];
  /** Columns with texts that {@link KeeperHost.envelope} seals. */
  readonly sealed?: readonly SealedColumn[];
  /** Tables that a new file takes over from a damaged one. */
  readonly recovered?: readonly string[];
  /**
   * Tables whose rows every worker holds in memory: `id TEXT PRIMARY KEY`, `version {INT} NOT NULL`, which a change sets, and
   * `deleted_at {INT}`: a row is not deleted but marked, and may be removed days later.
   */
  readonly replicas?: readonly string[];
  readonly commit?: FeatureCommit;
  /** Rows that are deleted when they are too old, or with the key that they belong to. */
  readonly kept?: readonly KeptRows[];
  /**
   * Proves that the rows agree with the records of calls, in the view that all checks of `weir audit` have. It writes nothing.
   * @returns name of the check, whether the rows agree, and one sentence that says how many there are or what is wrong
   */
  prove?(sql: Sql): Promise<{ readonly name: string; readonly holds: boolean; readonly detail: string }>;
  /** A caller is removed with its key: its sums become those of another one. The rows of {@link kept} are deleted before. */
  forget?(sql: Sql, caller: number, removed: number): Promise<void>;
  /** Members of the records of calls that are in these tables, by the numbers of the calls. */
  join?(
    sql: Sql,
    numbers: readonly number[],
  ): Promise<ReadonlyMap<number, Readonly<Record<string, unknown>>>>;
}

/**
 * Rows that calls add, in the transaction of their records: last, and in a savepoint, so that a fault takes no charge with it.
 * The transaction may be repeated, so `write` changes nothing but rows. Two nodes that write the same rows in different
 * orders wait for each other, so rows with conflicts are sorted by their keys.
 */
export interface FeatureCommit {
  /** Whether a call adds rows. */
  takes(call: CallRecord): boolean;
  /** Texts of a call that the rows have as numbers, besides those of its record: {@link Names.id} knows no others. */
  names?(call: CallRecord): Iterable<readonly [NameKind, string]>;
  /** @param calls that it takes */
  write(sql: Sql, names: Names, calls: readonly NumberedCall[]): Promise<void>;
}

/** A call with its number in the books. */
export interface NumberedCall {
  number: number;
  call: CallRecord;
}

/** Rows of one table that do not stay for ever. */
export interface KeptRows {
  readonly table: string;
  /** Columns of its primary key. */
  readonly key: readonly string[];
  /** @returns a condition for the rows that are too old */
  old(cuts: Cuts): string;
  /** @param own a condition on `caller` @returns one for the rows of these callers */
  of?(own: string): string;
}

/** Rows below these values are too old: numbers of calls, and milliseconds since 1970. */
export interface Cuts {
  calls: number;
  hours: number;
  sessions: number;
  positions: number;
}

/** The tables of a feature, with its name. */
export interface NamedTables {
  readonly feature: string;
  readonly tables: FeatureTables;
}
