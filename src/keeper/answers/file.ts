/** The stored answers as tables of one SQLite database. All methods are synchronous. */
import type { Database } from "bun:sqlite";
import { MAX_CHAIN, type PageRequest } from "../../core/answer-store.ts";
import { readNumber } from "../store/migrations.ts";
import {
  amend,
  type AnswerRow,
  CHAIN_BYTES,
  type Compressed,
  compressAnswer,
  INPUT,
  nextOf,
  NOTES,
  type ItemRow,
  LAST,
  SWEPT,
  toAnswer,
  toItem,
  toSides,
  verdictOn,
} from "./rows.ts";
import type { Address, Asks, PackedAnswer, PackedItem, PackedLink, Results } from "../protocol.ts";
import type { Limits } from "../settings.ts";

/** Maximum number of answers that one transaction deletes to make room; each may be large. */
const EVICTED = 16;
/** Free pages that one call gives back to the disk. */
const VACUUMED = 2_000;

type Value = string | number | null | Uint8Array;

export class AnswerFile {
  readonly #db: Database;
  readonly #limits: Limits;
  readonly #now: () => number;
  readonly #sql: ReturnType<typeof prepare>;
  /** Deleted content is still in the write-ahead log. */
  #mustCheckpoint = false;

  /** @param db with the tables of `RESPONSES_MIGRATIONS` @param now milliseconds since 1970 */
  constructor(db: Database, limits: Limits, now: () => number = Date.now) {
    this.#db = db;
    this.#limits = limits;
    this.#now = now;
    this.#sql = prepare(this.#db);
  }

  /**
   * Stores answers in one transaction, which is durable when this returns. An answer whose time has passed by then is deleted
   * again. An answer replaces one of the same id and owner.
   * @returns the outcome of each answer; an Error if the id belongs to another owner
   * @throws SQLiteError if none of them could be stored
   */
  put(batch: readonly Asks["put"][]): (Results["put"] | Error)[] {
    const packed = batch.map(({ answer }) => this.#compress(answer));
    const outcomes = this.#db
      .transaction(() =>
        batch.map(({ answer, until }, index): Results["put"] | Error => {
          const compressed = packed[index];
          if (compressed === undefined) return "too-large";
          if (this.#now() > until) return "late";
          return this.#insert(answer, compressed);
        }),
      )
      .immediate();
    const late = batch.filter(({ until }, index) => outcomes[index] === "stored" && this.#now() > until);
    if (late.length === 0) return outcomes;
    this.#db.transaction(() => late.forEach(({ answer }) => this.delete(answer))).immediate();
    return outcomes.map((outcome, index) => (late.includes(batch[index]!) ? "late" : outcome));
  }

  #compress(answer: PackedAnswer): Compressed | undefined {
    const { answerBytes, fileBytes } = this.#limits;
    return compressAnswer(answer, this.#limits, Math.min(answerBytes, fileBytes));
  }

  #insert(answer: PackedAnswer, { bytes, body, rows }: Compressed): "stored" | Error {
    const { id, owner, deployment, parent, model, status, created, expires } = answer;
    const holder = this.#sql.owner.get(id);
    if (holder && holder.owner !== owner) return new Error("this id belongs to another owner");
    if (holder) this.delete(answer);
    this.#sql.insert.run(
      ...[id, owner, deployment ?? null, parent ?? null],
      ...[model, status, created, expires, bytes, body],
    );
    for (const row of rows) this.#sql.insertItem.run(id, ...row);
    return "stored";
  }

  get({ id, owner, item }: Asks["get"]): PackedAnswer | undefined {
    const row = this.#sql.get.get(id, owner, this.#now());
    if (!row) return undefined;
    const rows = item === undefined ? this.#sql.itemsOf.all(id) : this.#sql.itemOf.all(id, item);
    return { ...toAnswer(row), ...toSides(rows) };
  }

  #itemsOf(id: string): Pick<PackedAnswer, "input" | "output" | "notes"> {
    return toSides(this.#sql.itemsOf.all(id));
  }

  /** As `AnswerStore.chain`; a chain above the maximum size is `too-long` as well. */
  chain({ id, owner }: Address): Results["chain"] {
    const rows: AnswerRow[] = [];
    let bytes = 0;
    for (let next: string | null = id; next !== null;) {
      const row: AnswerRow | null = this.#sql.get.get(next, owner, this.#now());
      if (!row) return undefined;
      bytes += row.bytes;
      if (rows.length === MAX_CHAIN || bytes > CHAIN_BYTES) return "too-long";
      rows.push(row);
      next = row.parent;
    }
    return rows.reverse().map((row): PackedLink => {
      const { id, deployment } = toAnswer(row);
      return { id, ...(deployment !== undefined && { deployment }), ...this.#itemsOf(id) };
    });
  }

  /** The newest item of each id. */
  items({ ids, owner }: Asks["items"]): PackedItem[] {
    return ids.flatMap((id) => {
      const row = this.#sql.item.get(id, owner, this.#now());
      return row ? [toItem(row)] : [];
    });
  }

  inputItems({ id, owner, page }: Address & { page: PageRequest }): Results["inputItems"] {
    if (!this.#sql.get.get(id, owner, this.#now())) return undefined;
    const isDescending = page.order === "desc";
    let start = isDescending ? Number.MAX_SAFE_INTEGER : -1;
    if (page.after !== undefined) {
      const found = this.#sql.position.get(id, page.after);
      if (!found) return undefined;
      start = found.seq;
    }
    const rows = (isDescending ? this.#sql.pageDown : this.#sql.pageUp).all(id, start, page.limit + 1);
    return { items: rows.slice(0, page.limit).map(toItem), hasMore: rows.length > page.limit };
  }

  /** As `AnswerStore.amend`; durable when this returns. */
  amend(ask: Asks["amend"]): Results["amend"] {
    return this.#db.transaction(() => this.#amend(ask)).immediate();
  }

  #amend({ id, owner, ...change }: Asks["amend"]): Results["amend"] {
    const row = this.#sql.get.get(id, owner, this.#now());
    if (!row) return "unknown";
    if (this.#now() > change.until) return "late";
    const { drop } = change;
    const dropped = drop === undefined ? [] : this.#sql.inputOf.all(id, drop);
    const refusal = verdictOn(
      change,
      dropped.length > 0,
      (item) => this.#sql.position.get(id, item) !== null,
    );
    if (refusal) return refusal;
    const next = nextOf(this.#sql.last.all(id));
    const values = dropped.map(({ value }) => value);
    const maxBytes = Math.min(CHAIN_BYTES, this.#limits.fileBytes);
    const amended = amend(row, change, values, next, this.#limits, maxBytes);
    if (!amended) return "too-large";
    if (drop !== undefined) this.#sql.dropInput.run(id, drop);
    for (const item of amended.rows) this.#sql.insertItem.run(id, ...item);
    this.#sql.amend.run(amended.bytes, amended.body, amended.expires, id);
    this.#mustCheckpoint ||= drop !== undefined || change.body !== undefined;
    return "stored";
  }

  /** Removes items that a change has added, or without `items` the answer. @returns whether there was something to remove */
  undo({ id, owner, items }: Asks["retract"]): boolean {
    if (!items) return this.delete({ id, owner });
    const undone = (drop: string) => this.#amend({ id, owner, drop, add: [], until: Infinity }) === "stored";
    return this.#db.transaction(() => items.filter(undone).length > 0).immediate();
  }

  list({ prefix, owner, limit, after }: Asks["list"]): PackedAnswer[] {
    const rows = this.#sql.list.all(after, `${prefix}${LAST}`, owner, this.#now(), limit);
    return rows.map((row) => ({ ...toAnswer(row), input: [], output: [] }));
  }

  delete({ id, owner }: Address): boolean {
    const wasThere = this.#sql.get.get(id, owner, this.#now()) !== null;
    if (this.#sql.delete.run(id, owner).changes > 0) this.#mustCheckpoint = true;
    return wasThere;
  }

  /**
   * Deletes some of the expired answers, some of those beyond the size of the file, and gives free pages back to the disk.
   * @returns whether there may be more to delete
   */
  sweep(): boolean {
    const expired = this.#sql.sweep.run(this.#now(), SWEPT).changes;
    const evicted = this.isOverfull ? this.#db.transaction(() => this.#evict()).immediate() : 0;
    if (expired + evicted > 0) this.#mustCheckpoint = true;
    // `changes` counts the items that a deletion cascades to as well, so only zero is certain.
    if (expired + evicted > 0) return true;
    if (readNumber(this.#db, "freelist_count") > 0) this.#db.run(`PRAGMA incremental_vacuum(${VACUUMED})`);
    this.#checkpoint();
    return false;
  }

  /** @returns number of deleted answers */
  #evict(): number {
    let evicted = 0;
    while (evicted < EVICTED && this.isOverfull && this.#sql.evict.run().changes > 0) evicted++;
    return evicted;
  }

  /** Whether the answers use more than the limit of the file. */
  get isOverfull(): boolean {
    return this.#usedBytes() > this.#limits.fileBytes;
  }

  #usedBytes(): number {
    const pages = readNumber(this.#db, "page_count") - readNumber(this.#db, "freelist_count");
    return pages * readNumber(this.#db, "page_size");
  }

  /** Removes deleted content from the write-ahead log too. */
  #checkpoint(): void {
    if (!this.#mustCheckpoint) return;
    this.#db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    this.#mustCheckpoint = false;
  }

  close(): void {
    for (const statement of Object.values(this.#sql)) statement.finalize();
    this.#db.close();
  }
}

function prepare(db: Database) {
  return {
    owner: db.prepare<{ owner: string }, [string]>("SELECT owner FROM response WHERE id = ?"),
    insert: db.prepare<never, Value[]>("INSERT INTO response VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    insertItem: db.prepare<never, Value[]>("INSERT INTO item VALUES (?, ?, ?, ?, ?)"),
    get: db.prepare<AnswerRow, [string, string, number]>(
      "SELECT * FROM response WHERE id = ? AND owner = ? AND expires > ?",
    ),
    list: db.prepare<AnswerRow, [string, string, string, number, number]>(
      "SELECT * FROM response WHERE id > ? AND id < ? AND owner = ? AND expires > ? ORDER BY id LIMIT ?",
    ),
    itemsOf: db.prepare<ItemRow, [string]>(
      "SELECT side, id, value FROM item WHERE response = ? ORDER BY side, seq",
    ),
    itemOf: db.prepare<ItemRow, [string, string]>(
      `SELECT side, id, value FROM item WHERE response = ?1 AND side = ${NOTES}
       UNION ALL SELECT side, id, value FROM item WHERE response = ?1 AND side = ${INPUT} AND id = ?2`,
    ),
    item: db.prepare<ItemRow, [string, string, number]>(
      `SELECT item.side, item.id, item.value FROM item JOIN response ON response.id = item.response
       WHERE item.id = ? AND item.side <> ${NOTES} AND response.owner = ? AND response.expires > ? ORDER BY response.created DESC LIMIT 1`,
    ),
    position: db.prepare<{ seq: number }, [string, string]>(
      `SELECT seq FROM item WHERE response = ? AND side = ${INPUT} AND id = ?`,
    ),
    pageUp: db.prepare<ItemRow, [string, number, number]>(
      `SELECT side, id, value FROM item WHERE response = ? AND side = ${INPUT} AND seq > ? ORDER BY seq LIMIT ?`,
    ),
    pageDown: db.prepare<ItemRow, [string, number, number]>(
      `SELECT side, id, value FROM item WHERE response = ? AND side = ${INPUT} AND seq < ? ORDER BY seq DESC LIMIT ?`,
    ),
    inputOf: db.prepare<ItemRow, [string, string]>(
      `SELECT side, id, value FROM item WHERE response = ? AND side = ${INPUT} AND id = ?`,
    ),
    dropInput: db.prepare<never, [string, string]>(
      `DELETE FROM item WHERE response = ? AND side = ${INPUT} AND id = ?`,
    ),
    last: db.prepare<{ side: number; seq: number }, [string]>(
      "SELECT side, max(seq) AS seq FROM item WHERE response = ? GROUP BY side",
    ),
    amend: db.prepare<never, Value[]>("UPDATE response SET bytes = ?, body = ?, expires = ? WHERE id = ?"),
    delete: db.prepare<never, [string, string]>("DELETE FROM response WHERE id = ? AND owner = ?"),
    sweep: db.prepare<never, [number, number]>(
      "DELETE FROM response WHERE id IN (SELECT id FROM response WHERE expires <= ? ORDER BY expires LIMIT ?)",
    ),
    evict: db.prepare<never, []>(
      "DELETE FROM response WHERE id IN (SELECT id FROM response ORDER BY expires LIMIT 1)",
    ),
  };
}
