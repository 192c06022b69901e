/** The stored answers as tables of PostgreSQL, for all nodes. As `AnswerFile`, but asynchronous and without a maximum size. */
import { MAX_CHAIN, type PageRequest } from "../../core/answer-store.ts";
import { Postgres } from "../store/postgres/driver.ts";
import { migratePostgres } from "../store/postgres/migrate.ts";
import type { Sql } from "../store/sql.ts";
import type { Address, Asks, PackedAnswer, PackedItem, PackedLink, Results } from "../protocol.ts";
import type { Limits } from "../settings.ts";
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
  SWEPT,
  LAST,
  toAnswer,
  toItem,
  toSides,
  verdictOn,
} from "./rows.ts";

const MIGRATIONS: readonly string[] = [
  `CREATE TABLE weir.response (
     id         text PRIMARY KEY,
     owner      text NOT NULL,
     deployment text,            -- the deployment that stores the answer; NULL: weir
     parent     text,
     model      text NOT NULL,
     status     text NOT NULL,
     created    bigint NOT NULL, -- milliseconds since 1970, as expires
     expires    bigint NOT NULL,
     bytes      bigint NOT NULL, -- size of the body and the items before compression
     body       bytea            -- JSON, zstd; NULL if a deployment stores the answer
   );
   CREATE INDEX response_expires ON weir.response (expires);
   CREATE TABLE weir.item (
     response text NOT NULL REFERENCES weir.response (id) ON DELETE CASCADE,
     side     smallint NOT NULL, -- 0: input, 1: output
     seq      integer NOT NULL,
     id       text NOT NULL,
     value    bytea NOT NULL,    -- JSON, zstd
     PRIMARY KEY (response, side, seq)
   );
   CREATE INDEX item_id ON weir.item (id);
   -- zstd has compressed the values already
   ALTER TABLE weir.response ALTER COLUMN body SET STORAGE EXTERNAL;
   ALTER TABLE weir.item ALTER COLUMN value SET STORAGE EXTERNAL;`,
];

/** SQLSTATE of a row whose primary key exists. */
const DUPLICATE = "23505";
/** Values of one statement. Bytes. */
const SLICE = 4 * 1024 * 1024;
const ANSWER_COLUMNS = [
  ...["id", "owner", "deployment", "parent", "model"],
  ...["status", "created", "expires", "bytes", "body"],
];
const ITEM_COLUMNS = ["response", "side", "seq", "id", "value"];
/** The ids of a JSON array as a set of rows. */
const IDS = "(SELECT json_array_elements_text($1::text::json))";

export class PostgresAnswers {
  readonly #sql: Postgres;
  readonly #limits: Limits;
  readonly #now: () => number;

  /** @param now milliseconds since 1970 */
  constructor(url: string, limits: Limits, now: () => number = Date.now) {
    this.#sql = new Postgres(url);
    this.#limits = limits;
    this.#now = now;
  }

  /** @throws Error with one sentence */
  open(): Promise<void> {
    return migratePostgres(this.#sql, "answers", MIGRATIONS);
  }

  close(): Promise<void> {
    return this.#sql.close();
  }

  /**
   * Stores answers in one transaction. As {@link AnswerFile.put}.
   * @throws StoreLost if it is not known whether they are stored
   */
  async put(batch: readonly Asks["put"][]): Promise<(Results["put"] | Error)[]> {
    const packed = batch.map(({ answer }) => compressAnswer(answer, this.#limits));
    let outcomes: (Results["put"] | Error)[];
    try {
      outcomes = await this.#putPacked(batch, packed);
    } catch (cause) {
      if ((cause as { errno?: unknown } | null)?.errno !== DUPLICATE) throw cause;
      // Another node stored an answer of one of the ids meanwhile; its owner can be read now.
      outcomes = await this.#putPacked(batch, packed);
    }
    const late = batch.filter(({ until }, index) => outcomes[index] === "stored" && this.#now() > until);
    for (const { answer } of late) await this.delete(answer);
    return outcomes.map((outcome, index) => (late.includes(batch[index]!) ? "late" : outcome));
  }

  #putPacked(
    batch: readonly Asks["put"][],
    packed: readonly (Compressed | undefined)[],
  ): Promise<(Results["put"] | Error)[]> {
    return this.#sql.transaction(async (tx) => {
      const owners = await lockOwners(
        tx,
        batch.map(({ answer }) => answer.id),
      );
      const existing = new Set(owners.keys());
      const outcomes = batch.map(({ answer, until }, index): Results["put"] | Error => {
        if (!packed[index]) return "too-large";
        if (this.#now() > until) return "late";
        const owner = owners.get(answer.id) ?? answer.owner;
        owners.set(answer.id, owner);
        return owner === answer.owner ? "stored" : new Error("this id belongs to another owner");
      });
      const stored = batch.flatMap(({ answer }, index) =>
        outcomes[index] === "stored" ? [{ answer, ...packed[index]! }] : [],
      );
      // Of two answers with one id in one batch, the second one counts.
      const newest = [...new Map(stored.map((entry) => [entry.answer.id, entry])).values()];
      await tx.run(`DELETE FROM response WHERE id IN ${IDS}`, [
        JSON.stringify(newest.map(({ answer }) => answer.id).filter((id) => existing.has(id))),
      ]);
      await insertAnswers(tx, newest);
      return outcomes;
    });
  }

  get({ id, owner, item }: Asks["get"]): Promise<Results["get"]> {
    return this.#snapshot(async (tx) => {
      const [row] = await tx.all<AnswerRow>(
        "SELECT * FROM response WHERE id = $1 AND owner = $2 AND expires > $3",
        [id, owner, this.#now()],
      );
      if (!row) return undefined;
      const one = `SELECT side, id, value FROM item WHERE response = $1 AND (side = ${NOTES} OR (side = ${INPUT} AND id = $2)) ORDER BY side, seq`;
      const rows =
        item === undefined ? (await itemsOf(tx, [id])).get(id) : await tx.all<ItemRow>(one, [id, item]);
      return { ...toAnswer(row), ...toSides(rows ?? []) };
    });
  }

  chain({ id, owner }: Address): Promise<Results["chain"]> {
    return this.#snapshot(async (tx) => {
      const rows = await tx.all<Pick<AnswerRow, "id" | "deployment" | "parent" | "bytes">>(
        `WITH RECURSIVE link AS (
           SELECT id, deployment, parent, bytes, 1 AS place FROM response
             WHERE id = $1 AND owner = $2 AND expires > $3
           UNION ALL
           SELECT response.id, response.deployment, response.parent, response.bytes, place + 1
             FROM response JOIN link ON response.id = link.parent
             WHERE response.owner = $2 AND response.expires > $3 AND place <= ${MAX_CHAIN})
         SELECT id, deployment, parent, bytes FROM link ORDER BY place DESC`,
        [id, owner, this.#now()],
      );
      if (rows.length > MAX_CHAIN || rows.reduce((sum, row) => sum + row.bytes, 0) > CHAIN_BYTES)
        return "too-long";
      if (rows[0]?.parent !== null) return undefined;
      const items = await itemsOf(
        tx,
        rows.map((row) => row.id),
      );
      return rows.map(({ id, deployment }): PackedLink => ({
        id,
        ...(deployment !== null && { deployment }),
        ...toSides(items.get(id) ?? []),
      }));
    });
  }

  /** The newest item of each id. */
  async items({ ids, owner }: Asks["items"]): Promise<PackedItem[]> {
    const rows = await this.#sql.all<ItemRow>(
      `SELECT DISTINCT ON (item.id) item.id, item.value FROM item JOIN response ON response.id = item.response
       WHERE item.id IN ${IDS} AND item.side <> ${NOTES} AND response.owner = $2 AND response.expires > $3
       ORDER BY item.id, response.created DESC`,
      [JSON.stringify(ids), owner, this.#now()],
    );
    return rows.map(toItem);
  }

  inputItems({ id, owner, page }: Address & { page: PageRequest }): Promise<Results["inputItems"]> {
    return this.#snapshot(async (tx) => {
      const found = await tx.all("SELECT 1 FROM response WHERE id = $1 AND owner = $2 AND expires > $3", [
        ...[id, owner],
        this.#now(),
      ]);
      if (found.length === 0) return undefined;
      const isDescending = page.order === "desc";
      let start = isDescending ? 2 ** 31 - 1 : -1;
      if (page.after !== undefined) {
        const [after] = await tx.all<{ seq: number }>(
          `SELECT seq FROM item WHERE response = $1 AND side = ${INPUT} AND id = $2`,
          [id, page.after],
        );
        if (!after) return undefined;
        start = after.seq;
      }
      const [sign, order] = isDescending ? ["<", "DESC"] : [">", "ASC"];
      const rows = await tx.all<ItemRow>(
        `SELECT side, id, value FROM item WHERE response = $1 AND side = ${INPUT} AND seq ${sign} $2
         ORDER BY seq ${order} LIMIT $3`,
        [id, start, page.limit + 1],
      );
      return { items: rows.slice(0, page.limit).map(toItem), hasMore: rows.length > page.limit };
    });
  }

  /** As `AnswerStore.amend`. The lock on the answer's row makes changes at once follow each other. */
  amend({ id, owner, ...change }: Asks["amend"]): Promise<Results["amend"]> {
    return this.#sql.transaction(async (tx): Promise<Results["amend"]> => {
      const [row] = await tx.all<AnswerRow>(
        "SELECT * FROM response WHERE id = $1 AND owner = $2 AND expires > $3 FOR UPDATE",
        [id, owner, this.#now()],
      );
      if (!row) return "unknown";
      if (this.#now() > change.until) return "late";
      const { drop } = change;
      const named = `FROM item WHERE response = $1 AND side = ${INPUT} AND id = $2`;
      const dropped = drop === undefined ? [] : await tx.all<ItemRow>(`SELECT value ${named}`, [id, drop]);
      const there = await tx.all<{ id: string }>(
        `SELECT id FROM item WHERE id IN ${IDS} AND response = $2 AND side = ${INPUT}`,
        [JSON.stringify(change.add.map((item) => item.id)), id],
      );
      const known = new Set(there.map((item) => item.id));
      const refusal = verdictOn(change, dropped.length > 0, (item) => known.has(item));
      if (refusal) return refusal;
      const last = await tx.all<{ side: number; seq: number }>(
        "SELECT side, max(seq) AS seq FROM item WHERE response = $1 GROUP BY side",
        [id],
      );
      const values = dropped.map(({ value }) => value);
      const amended = amend(row, change, values, nextOf(last), this.#limits);
      if (!amended) return "too-large";
      if (drop !== undefined) await tx.run(`DELETE ${named}`, [id, drop]);
      const rows = amended.rows.map((item) => [id, ...item]);
      for (const slice of slices(rows)) await tx.insert("item", ITEM_COLUMNS, slice);
      await tx.run("UPDATE response SET bytes = $1, body = $2, expires = $3 WHERE id = $4", [
        ...[amended.bytes, amended.body],
        ...[amended.expires, id],
      ]);
      return "stored";
    });
  }

  /** Removes items that a change has added, or without `items` the answer. @returns whether there was something to remove */
  async undo({ id, owner, items }: Asks["retract"]): Promise<boolean> {
    if (!items) return this.delete({ id, owner });
    let undone = false;
    for (const drop of items)
      undone = (await this.amend({ id, owner, drop, add: [], until: Infinity })) === "stored" || undone;
    return undone;
  }

  /** Also deletes an answer that has expired. @returns whether there was one that had not */
  async list({ prefix, owner, limit, after }: Asks["list"]): Promise<Results["list"]> {
    const rows = await this.#sql.all<AnswerRow>(
      `SELECT * FROM response WHERE id COLLATE "C" > $1 AND id COLLATE "C" < $2 AND owner = $3 AND expires > $4
       ORDER BY id COLLATE "C" LIMIT $5`,
      [after, `${prefix}${LAST}`, owner, this.#now(), limit],
    );
    return rows.map((row) => ({ ...toAnswer(row), input: [], output: [] }));
  }

  async delete({ id, owner }: Address): Promise<boolean> {
    const [row] = await this.#sql.all<{ expires: number }>(
      "DELETE FROM response WHERE id = $1 AND owner = $2 RETURNING expires",
      [id, owner],
    );
    return row !== undefined && row.expires > this.#now();
  }

  /** Deletes some of the expired answers. @returns whether there may be more */
  async sweep(): Promise<boolean> {
    const deleted = await this.#sql.run(
      `DELETE FROM response WHERE id IN
         (SELECT id FROM response WHERE expires <= $1 ORDER BY expires LIMIT ${SWEPT} FOR UPDATE SKIP LOCKED)`,
      [this.#now()],
    );
    return deleted === SWEPT;
  }

  /** All queries of the work see the tables as they are at one moment: an answer is there with all its items, or absent. */
  #snapshot<Value>(work: (tx: Sql) => Promise<Value>): Promise<Value> {
    return this.#sql.transaction(async (tx) => {
      await tx.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
      return work(tx);
    });
  }
}

/** The owners of the answers that exist. They cannot change until the transaction ends. */
async function lockOwners(tx: Sql, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.all<{ id: string; owner: string }>(
    `SELECT id, owner FROM response WHERE id IN ${IDS} ORDER BY id FOR UPDATE`,
    [JSON.stringify(ids)],
  );
  return new Map(rows.map(({ id, owner }) => [id, owner]));
}

type Stored = { answer: PackedAnswer } & Compressed;

async function insertAnswers(tx: Sql, stored: readonly Stored[]): Promise<void> {
  const answers = stored.map(({ answer, bytes, body }) => [
    ...[answer.id, answer.owner, answer.deployment ?? null, answer.parent ?? null, answer.model],
    ...[answer.status, answer.created, answer.expires, bytes, body],
  ]);
  const items = stored.flatMap(({ answer, rows }) => rows.map((row) => [answer.id, ...row]));
  for (const slice of slices(answers)) await tx.insert("response", ANSWER_COLUMNS, slice);
  for (const slice of slices(items)) await tx.insert("item", ITEM_COLUMNS, slice);
}

type Row = readonly (string | number | null | Uint8Array)[];

/** Rows in groups of about {@link SLICE} bytes. */
function slices(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  let room = 0;
  for (const row of rows) {
    const last = row.at(-1);
    const size = last instanceof Uint8Array ? last.byteLength : 0;
    if (room < size || groups.length === 0) {
      groups.push([]);
      room = SLICE;
    }
    groups.at(-1)!.push(row);
    room -= size;
  }
  return groups;
}

/** The items of answers, by answer, in order. */
async function itemsOf(tx: Sql, ids: readonly string[]): Promise<Map<string, ItemRow[]>> {
  const rows = await tx.all<ItemRow & { response: string }>(
    `SELECT response, side, id, value FROM item WHERE response IN ${IDS} ORDER BY response, side, seq`,
    [JSON.stringify(ids)],
  );
  return Map.groupBy(rows, ({ response }) => response);
}
