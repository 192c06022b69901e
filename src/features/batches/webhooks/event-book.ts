/** Ends of batches that their receiver does not know yet, as rows: they survive the process. */
import type { KeeperHost } from "../../../keeper/seams.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import type { EndEvent } from "./event.ts";

/** The table, for the tables of the feature. */
export const EVENT_ROWS = `
-- id: of the batch, which ends once. ended, due: milliseconds since 1970. tries: requests that have begun.
CREATE TABLE batches_events (id TEXT PRIMARY KEY, type TEXT NOT NULL, ended {INT} NOT NULL, tries {INT} NOT NULL,
  due {INT} NOT NULL) {KEYED};
`;

type Row = Record<"ended" | "tries" | "due", number | string> & Pick<EndEvent, "id" | "type">;

/** In the transaction that ends the batch. */
export async function noteEnd(sql: Sql, { id, type, ended, tries, due }: EndEvent): Promise<void> {
  await sql.run(
    `INSERT INTO batches_events (id, type, ended, tries, due) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING`,
    [id, type, ended, tries, due],
  );
}

export class EventBook {
  readonly #host: Pick<KeeperHost, "read" | "write">;

  constructor(host: Pick<KeeperHost, "read" | "write">) {
    this.#host = host;
  }

  /** @param now milliseconds since 1970 @returns the oldest of those whose next request should begin */
  async due(now: number, limit: number): Promise<readonly EndEvent[]> {
    const rows = await this.#host.read((sql) =>
      sql.all<Row>(
        `SELECT id, type, ended, tries, due FROM batches_events WHERE due <= $1 ORDER BY due, id LIMIT ${limit}`,
        [now],
      ),
    );
    return rows.map(({ id, type, ended, tries, due }) => ({
      ...{ id, type, ended: Number(ended), tries: Number(tries), due: Number(due) },
    }));
  }

  /** Takes an event, so that no other node sends it before `due`. @returns undefined: another node was faster */
  async take({ due: before, ...event }: EndEvent, due: number): Promise<EndEvent | undefined> {
    const tries = event.tries + 1;
    const changed = await this.#host.write((sql) =>
      sql.run("UPDATE batches_events SET tries = $1, due = $2 WHERE id = $3 AND due = $4", [
        ...[tries, due, event.id, before],
      ]),
    );
    return changed > 0 ? { ...event, tries, due } : undefined;
  }

  /** The next request begins then. */
  async put({ id, due: before }: EndEvent, due: number): Promise<void> {
    await this.#host.write((sql) =>
      sql.run("UPDATE batches_events SET due = $1 WHERE id = $2 AND due = $3", [due, id, before]),
    );
  }

  /** The receiver has it, or never will. */
  async remove({ id }: EndEvent): Promise<void> {
    await this.#host.write((sql) => sql.run("DELETE FROM batches_events WHERE id = $1", [id]));
  }
}
