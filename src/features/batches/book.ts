/** The rows of batches in the store. Each change reads the row and writes it in one transaction. */
import type { KeeperHost } from "../../keeper/seams.ts";
import type { Sql, SqlValue } from "../../keeper/store/sql.ts";
import { type Batch, isEnd, mayMove, moved, phase } from "./batch.ts";
import { bookedIn, forgetBooked } from "./booked.ts";
import { excessIn, queuedIn, reservedBy } from "./waiting.ts";
import type { BatchAnswer, BatchAsk, NewRow, Page, Progress, RunnerId } from "./messages.ts";
import { countChange } from "./count-change.ts";
import type { Owner, Seer } from "./owner.ts";
import { endOf } from "./webhooks/event.ts";
import { noteEnd } from "./webhooks/event-book.ts";

/** A batch as its row has it. */
export interface Kept {
  readonly batch: Batch;
  readonly owner: Owner;
  readonly fence: number;
  readonly node: string;
  /** Milliseconds since 1970. */
  readonly lease: number;
}

export interface BatchRow {
  readonly id: string;
  readonly fence: number | string;
  readonly node: string;
  readonly lease: number | string;
  readonly batch: string;
}

export const COLUMNS = "id, fence, node, lease, batch";

export class BatchBook {
  readonly #host: Pick<KeeperHost, "read" | "write" | "count" | "left">;
  readonly #isHeard: () => boolean;

  /** @param isHeard whether a webhook gets events of batches that end */
  constructor(host: Pick<KeeperHost, "read" | "write" | "count" | "left">, isHeard = () => false) {
    this.#host = host;
    this.#isHeard = isHeard;
  }

  /** @returns the batch, or what does not suffice for it */
  create({ batch: made, owner, most, queued, needs }: NewRow): Promise<BatchAnswer> {
    return this.#host.write(async (sql) => {
      const [{ open } = { open: 0 }] = await sql.all<{ open: number | string }>(
        `SELECT COUNT(*) AS open FROM batches WHERE ended IS NULL AND path = $1 AND key_id IS NOT DISTINCT FROM $2`,
        [owner.path, owner.key ?? null],
      );
      if (Number(open) >= most) return { refused: "batch_limit" };
      const waiting = await queuedIn(sql, owner);
      if (waiting + (made.tokens ?? 0) > queued) return { queued: waiting };
      const excess = await excessIn(sql, needs ?? [], made.id);
      if (excess) return { excess };
      const batch = { ...made, ...(needs && { reserved: reservedBy(needs) }) };
      const { id, path, key, person, createdAt } = batch;
      await sql.run(
        `INSERT INTO batches (id, path, key_id, person, created, ended, fence, node, lease, batch)
         VALUES ($1, $2, $3, $4, $5, $6, 0, '', 0, $7)`,
        [
          id,
          path,
          key ?? null,
          person ?? null,
          createdAt,
          batch.endedAt ?? null,
          JSON.stringify({ batch, owner }),
        ],
      );
      await this.#noteEnd(sql, batch);
      return { batch };
    });
  }

  /** In the transaction that ends the batch. */
  async #noteEnd(sql: Sql, batch: Batch): Promise<void> {
    const end = this.#isHeard() ? endOf(batch) : undefined;
    if (end) await noteEnd(sql, end);
  }

  /** @returns the batch, that a hard budget does not suffice for it, or that the runner is not the last one */
  reserve({ id, fence, needs }: Extract<BatchAsk, { reserve: unknown }>["reserve"]): Promise<BatchAnswer> {
    return this.#host.write(async (sql) => {
      const kept = await keptIn(sql, id, {});
      if (!kept || kept.fence !== fence) return { refused: "stale" };
      const excess = await excessIn(sql, needs, id);
      if (excess) return { excess };
      const batch = { ...kept.batch, reserved: reservedBy(needs) };
      await write(sql, kept, batch);
      return { batch };
    });
  }

  async get(id: string, seer: Seer): Promise<BatchAnswer> {
    const kept = await this.#host.read((sql) => keptIn(sql, id, seer));
    return kept ? { batch: kept.batch } : { none: true };
  }

  /** The newest first. */
  async list(seer: Seer, { limit, after, before }: Page): Promise<BatchAnswer> {
    const { condition, values } = seenBy(seer, 1);
    const bound = before ?? after;
    const beside = before === undefined ? "<" : ">";
    const order = before === undefined ? "DESC" : "ASC";
    const within =
      bound === undefined
        ? ""
        : ` AND (created, id) ${beside} (SELECT created, id FROM batches WHERE id = $${values.length + 1})`;
    const rows = await this.#host.read((sql) =>
      sql.all<BatchRow>(
        `SELECT ${COLUMNS} FROM batches WHERE ${condition}${within} ORDER BY created ${order}, id ${order} LIMIT ${limit + 1}`,
        [...values, ...(bound === undefined ? [] : [bound])],
      ),
    );
    const found = rows.slice(0, limit).map((row) => keptOf(row).batch);
    return { batches: before === undefined ? found : found.toReversed(), hasMore: rows.length > limit };
  }

  /** Idempotent. @returns the batch, or that it has ended */
  cancel(id: string, seer: Seer): Promise<BatchAnswer> {
    return this.#host.write(async (sql) => {
      const kept = await keptIn(sql, id, seer);
      if (!kept) return { none: true };
      const { batch } = kept;
      if (batch.state === "stopping" || batch.state === "stopped") return { batch };
      if (!mayMove(batch, "stopping")) return { refused: "ended", batch };
      const stopping = moved(batch, "stopping", Date.now());
      await write(sql, kept, stopping);
      return { batch: stopping };
    });
  }

  /** @returns the batch that is no more, or that it still runs */
  remove(id: string, seer: Seer): Promise<BatchAnswer> {
    return this.#host.write(async (sql) => {
      const kept = await keptIn(sql, id, seer);
      if (!kept) return { none: true };
      if (!isEnd(kept.batch.state)) return { refused: "running", batch: kept.batch };
      await sql.run("DELETE FROM batches WHERE id = $1", [id]);
      await forgetBooked(sql, id);
      return { batch: kept.batch };
    });
  }

  /** Notes what the format of a reader could not carry. The batch has ended. */
  lost({ id, reader, sum }: Extract<BatchAsk, { lost: unknown }>["lost"]): Promise<BatchAnswer> {
    return this.#host.write(async (sql) => {
      const kept = await keptIn(sql, id, {});
      if (!kept || !isEnd(kept.batch.state)) return { none: true };
      const batch = { ...kept.batch, losses: { ...kept.batch.losses, [reader]: sum } };
      await write(sql, kept, batch);
      return { batch };
    });
  }

  /** What a runner tells. @returns the batch, or that the runner is not the last one */
  async progress(id: string, fence: number, { to, facts }: Progress): Promise<BatchAnswer> {
    let before: Batch | undefined;
    const answer: BatchAnswer = await this.#host.write(async (sql) => {
      const kept = await keptIn(sql, id, {});
      if (!kept || kept.fence !== fence) return { refused: "stale" };
      // The answer to its last progress was lost.
      if (isEnd(kept.batch.state)) return { batch: kept.batch };
      before = kept.batch;
      const known = { ...kept.batch, ...facts };
      const next = to && mayMove(known, to) ? moved(known, to, Date.now(), facts?.reason) : known;
      await write(sql, kept, next);
      await this.#noteEnd(sql, next);
      return { batch: next };
    });
    // PostgreSQL may repeat the transaction, so that it does not count.
    if (before && "batch" in answer && answer.batch) countChange(this.#host.count, before, answer.batch);
    return answer;
  }

  /** What the books have of the lines of a batch that has not ended. */
  async booked(id: string): Promise<BatchAnswer> {
    await this.#host.left();
    return { booked: await this.#host.read((sql) => bookedIn(sql, id)) };
  }

  /** Batches that have not ended, and that no node has. @param now milliseconds since 1970 */
  async open(now: number): Promise<readonly Kept[]> {
    const rows = await this.#host.read((sql) =>
      sql.all<BatchRow>(
        `SELECT ${COLUMNS} FROM batches WHERE ended IS NULL AND lease <= $1 ORDER BY created LIMIT 100`,
        [now],
      ),
    );
    return rows.map(keptOf);
  }

  /** Whether any batch has not ended. */
  async hasOpen(): Promise<boolean> {
    const rows = await this.#host.read((sql) =>
      sql.all(`SELECT id FROM batches WHERE ended IS NULL LIMIT 1`),
    );
    return rows.length > 0;
  }

  /** Takes a batch that no node has. @returns the number of the new runner; undefined: another node was faster */
  claim({ id, fence }: RunnerId, node: string, now: number, until: number): Promise<number | undefined> {
    return this.#next({ id, fence }, node, until, now);
  }

  /** A runner goes on as another one. @returns its number; undefined: it had the batch no more */
  again(runner: RunnerId, node: string, until: number): Promise<number | undefined> {
    return this.#next(runner, node, until, Number.MAX_SAFE_INTEGER);
  }

  /** @param endedBy a lease that lasts longer keeps the batch: its runner may just have renewed it */
  #next({ id, fence }: RunnerId, node: string, until: number, endedBy: number): Promise<number | undefined> {
    return this.#host.write(async (sql) => {
      const changed = await sql.run(
        `UPDATE batches SET fence = $1, node = $2, lease = $3
         WHERE id = $4 AND fence = $5 AND lease <= $6 AND ended IS NULL`,
        [fence + 1, node, until, id, fence, endedBy],
      );
      return changed > 0 ? fence + 1 : undefined;
    });
  }

  /** Renews the leases of runners, also of those that a keeper before had. @returns those that have their batches still */
  async renew(
    runners: readonly RunnerId[],
    node: string,
    until: number,
  ): Promise<readonly (RunnerId & { readonly isStopping: boolean })[]> {
    if (runners.length === 0) return [];
    return this.#host.write(async (sql) => {
      const kept: (RunnerId & { isStopping: boolean })[] = [];
      // Two nodes that lock the same rows lock them in the same order.
      for (const { id, fence } of runners.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
        const changed = await sql.run(
          "UPDATE batches SET node = $1, lease = $2 WHERE id = $3 AND fence = $4 AND ended IS NULL",
          [node, until, id, fence],
        );
        const found = changed > 0 ? await keptIn(sql, id, {}) : undefined;
        if (found) kept.push({ id, fence, isStopping: phase(found.batch) === "stopping" });
      }
      return kept;
    });
  }

  /** Gives the lease of a runner back. */
  async release({ id, fence }: RunnerId): Promise<void> {
    await this.#host.write((sql) =>
      sql.run("UPDATE batches SET lease = 0 WHERE id = $1 AND fence = $2", [id, fence]),
    );
  }
}

function seenBy(seer: Seer, first: number): { condition: string; values: SqlValue[] } {
  const { path, key, person, sharesPath } = seer;
  if (path === undefined) return { condition: "1 = 1", values: [] };
  if (sharesPath) return { condition: `path = $${first}`, values: [path] };
  const own: string[] = [];
  const values: SqlValue[] = [];
  const same = (column: string, value: string | undefined) => {
    if (value === undefined) return;
    values.push(value);
    own.push(`${column} = $${first - 1 + values.length}`);
  };
  same("key_id", key);
  same("person", person);
  return { condition: own.length === 0 ? "1 = 0" : `(${own.join(" OR ")})`, values };
}

async function keptIn(sql: Sql, id: string, seer: Seer): Promise<Kept | undefined> {
  const { condition, values } = seenBy(seer, 2);
  const [row] = await sql.all<BatchRow>(`SELECT ${COLUMNS} FROM batches WHERE id = $1 AND ${condition}`, [
    id,
    ...values,
  ]);
  return row && keptOf(row);
}

export function keptOf({ fence, node, lease, batch }: BatchRow): Kept {
  const written = JSON.parse(batch) as Pick<Kept, "batch" | "owner">;
  return { ...written, fence: Number(fence), node, lease: Number(lease) };
}

async function write(sql: Sql, { owner }: Kept, batch: Batch): Promise<void> {
  await sql.run("UPDATE batches SET ended = $1, batch = $2 WHERE id = $3", [
    batch.endedAt ?? null,
    JSON.stringify({ batch, owner }),
    batch.id,
  ]);
}
