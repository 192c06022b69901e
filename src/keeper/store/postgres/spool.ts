/** The data that a node keeps on its own disk: its name, and commits that PostgreSQL has not taken yet. */
import type { Database } from "bun:sqlite";
import { openDatabase } from "../database.ts";
import { readNumber } from "../migrations.ts";
import { formatFault, TEXT_FORMAT } from "../../../ledger/record.ts";
import type { Commit } from "../store.ts";

const MIGRATIONS: readonly string[] = [
  `CREATE TABLE commits (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
   CREATE TABLE refused (number INTEGER PRIMARY KEY, text TEXT NOT NULL, why TEXT NOT NULL) STRICT;
   CREATE TABLE node (name TEXT NOT NULL) STRICT;`,
];

const MAX_BYTES = 1024 ** 3;
/** Most commits that are merged, and most calls of a merged one. */
const MERGED = 200;
const MAX_ROWS = 500;

interface Row {
  number: number;
  text: string;
}

/** A commit that waits. */
export interface Spooled {
  number: number;
  commit: Commit;
  /** Why it cannot be read, as a clause. */
  fault?: string;
}

function write(commit: Commit): string {
  return JSON.stringify({ ...commit, format: TEXT_FORMAT });
}

function read({ number, text }: Row): Spooled {
  const { format = TEXT_FORMAT, ...commit } = JSON.parse(text) as Commit & { format?: number };
  const fault = formatFault(format, TEXT_FORMAT);
  return { number, commit, ...(fault !== undefined && { fault }) };
}

export class Spool {
  /** The name of this node, which it keeps. */
  readonly node: string;
  readonly #db: Database;
  readonly #maxBytes: number;
  #waiting: number;
  /** The oldest commit may be in the store already: it must stay as it is. */
  #isUnclear = true;
  /** Calls whose records were left out because the file was full. Their money was not. */
  dropped = 0;

  /** @param path a file, or `:memory:` @param maxBytes size of the file @throws Error with one sentence */
  constructor(path: string, maxBytes = MAX_BYTES) {
    this.#db = openDatabase(path, MIGRATIONS);
    this.#maxBytes = maxBytes;
    this.#waiting = this.#count();
    const known = this.#db.query<{ name: string }, []>("SELECT name FROM node").get();
    this.node = known?.name ?? `node_${crypto.randomUUID().slice(0, 13)}`;
    if (!known) this.#db.query("INSERT INTO node VALUES (?)").run(this.node);
  }

  /** Number of commits that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Keeps a commit. Above the size of the file only its money is kept, and its calls are counted as dropped. */
  add(commit: Commit): void {
    // The first one was sent, and it is not known whether it arrived.
    if (this.#waiting === 0) this.#isUnclear = true;
    const isFull = readNumber(this.#db, "page_count") * readNumber(this.#db, "page_size") > this.#maxBytes;
    if (isFull) for (const { calls } of commit.batches) this.dropped += calls.length;
    const batches = isFull
      ? commit.batches.map((batch) => ({ ...batch, calls: [], prices: [] }))
      : commit.batches;
    // Levels of rate limits are old when the server is back.
    const text = write({ ...commit, batches, rates: [] });
    this.#db.query("INSERT INTO commits (text) VALUES (?)").run(text);
    this.#waiting += 1;
  }

  /** The oldest commit that waits. Those that were never sent are merged, because each transaction takes a while. */
  first(): Spooled | undefined {
    const rows = this.#db
      .query<Row, [number]>("SELECT number, text FROM commits ORDER BY number LIMIT ?")
      .all(this.#isUnclear ? 1 : MERGED);
    const [head, ...others] = rows.map(read);
    this.#isUnclear = true;
    if (!head || head.fault !== undefined) return head;
    let merged = head;
    for (const { number, commit, fault } of others) {
      if (fault !== undefined || rowsOf(merged.commit) + rowsOf(commit) > MAX_ROWS) break;
      merged = { number, commit: merge(merged.commit, commit) };
    }
    if (merged !== head) this.#replace(head.number, merged);
    return merged;
  }

  /** The commit is in the store. */
  remove(number: number): void {
    this.#db.query("DELETE FROM commits WHERE number = ?").run(number);
    this.#isUnclear = false;
    this.#waiting = this.#count();
    if (this.#waiting === 0) this.#db.run("PRAGMA incremental_vacuum");
  }

  /** The store will never take the commit: it is set aside, so that those behind it are not held up. */
  refuse(number: number, why: string): void {
    this.#db
      .query("INSERT INTO refused SELECT number, text, ? FROM commits WHERE number = ?")
      .run(why, number);
    this.remove(number);
  }

  close(): void {
    this.#db.close();
  }

  #replace(from: number, { number, commit }: { number: number; commit: Commit }): void {
    this.#db.transaction(() => {
      this.#db.query("DELETE FROM commits WHERE number BETWEEN ? AND ?").run(from, number);
      this.#db.query("INSERT INTO commits VALUES (?, ?)").run(number, write(commit));
    })();
    this.#waiting = this.#count();
  }

  #count(): number {
    return this.#db.query<{ rows: number }, []>("SELECT count(*) AS rows FROM commits").get()!.rows;
  }
}

function rowsOf({ batches }: Commit): number {
  return batches.reduce((sum, { calls }) => sum + calls.length, 0);
}

/** Two commits as one, which has the number of the later one. */
function merge(first: Commit, then: Commit): Commit {
  return {
    ...(then.once && { once: then.once }),
    batches: [...first.batches, ...then.batches],
    returns: [...first.returns, ...then.returns],
    assumptions: [...first.assumptions, ...then.assumptions],
    alerted: [...first.alerted, ...then.alerted],
    margins: [...first.margins, ...then.margins],
    rates: [],
  };
}
