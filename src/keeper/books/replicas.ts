/**
 * Tables of features whose rows every worker holds: the keeper reads what has changed in the store, by this node or another one, and
 * sends it on. A worker that connects asks for all rows.
 */
import { describeStoreFailure } from "../store/database.ts";
import type { ReplicaDown, ReplicaUp } from "../replica-messages.ts";
import type { KeeperPart, NamedTables, PartConnection } from "../seams.ts";
import type { Sql, SqlRow } from "../store/sql.ts";

/** Reads from the store. */
type Read = <Value>(report: (sql: Sql) => Promise<Value>) => Promise<Value>;
type Send = (message: ReplicaDown) => void;

export class Replicas implements KeeperPart<ReplicaUp, ReplicaDown> {
  readonly #tables: readonly Table[];
  readonly #read: Read;
  readonly #report: (sentence: string) => void;
  readonly #workers = new Set<Send>();
  /** Reads run one after another. It is never rejected. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param report logs why the store could not be read */
  constructor(tables: readonly NamedTables[], read: Read, report: (sentence: string) => void) {
    this.#tables = tables.flatMap(({ tables: { replicas = [] } }) => replicas.map((name) => new Table(name)));
    this.#read = read;
    this.#report = report;
  }

  /**
   * The store is open, or something in it may have changed. When it resolves, all workers were sent what has.
   * @throws what a read throws: workers may have older rows
   */
  refresh(): Promise<void> {
    if (this.#tables.length === 0) return Promise.resolve();
    const refreshed = this.#last.then(() => this.#refresh());
    this.#last = refreshed.catch(() => {});
    return refreshed;
  }

  connect(send: Send): PartConnection<ReplicaUp> {
    this.#workers.add(send);
    return {
      receive: ({ all }) => {
        const table = this.#tables.find(({ name }) => name === all);
        // All workers get the rows when they are read first.
        if (table?.isLoaded) send(table.all());
      },
      ended: () => void this.#workers.delete(send),
    };
  }

  async #refresh(): Promise<void> {
    for (const table of this.#tables)
      try {
        const message = await this.#read((sql) => table.read(sql));
        if (message) for (const send of this.#workers) send(message);
      } catch (cause) {
        this.#report(`the rows of ${table.name} cannot be read: ${describeStoreFailure(cause)}`);
        throw cause;
      }
  }
}

/** The rows of one table, as the workers have them. */
class Table {
  readonly name: string;
  isLoaded = false;
  /** As the store has them. */
  readonly #rows = new Map<string, SqlRow>();
  /** Highest version of a row. */
  #version = -1;
  /** Of the last message. */
  #number = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** All rows, for a worker that has none or has missed a message. */
  all(): ReplicaDown {
    return {
      ...{ table: this.name, number: this.#number, isAll: true },
      ...{ rows: Array.from(this.#rows.values(), shown), deleted: [] },
    };
  }

  /** Reads what has changed. @returns the message for the workers; undefined if nothing has */
  async read(sql: Sql): Promise<ReplicaDown | undefined> {
    const changed = await sql.all(`SELECT * FROM ${this.name} WHERE version > $1 ORDER BY version`, [
      this.#version,
    ]);
    const [sums] = await sql.all<{ rows: number; versions: number | string | null }>(
      `SELECT COUNT(*) AS rows, SUM(version) AS versions FROM ${this.name} WHERE deleted_at IS NULL`,
    );
    const deleted = changed.filter(isDeleted).map(({ id }) => id as string);
    const kept = changed.filter((row) => !isDeleted(row));
    for (const row of kept) this.#rows.set(row["id"] as string, row);
    for (const id of deleted) this.#rows.delete(id);
    this.#version = Number(changed.at(-1)?.["version"] ?? this.#version);
    // Rows have gone, or are older than before: a damaged file was recovered.
    if (sums!.rows !== this.#rows.size || Number(sums!.versions) !== this.#sumOfVersions())
      return this.#reload(sql);
    const isFirst = !this.isLoaded;
    this.isLoaded = true;
    if (isFirst) return this.#next(this.all());
    if (changed.length === 0) return undefined;
    return this.#next({ table: this.name, number: 0, rows: kept.map(shown), deleted });
  }

  #sumOfVersions(): number {
    return this.#rows.values().reduce((sum, row) => sum + Number(row["version"]), 0);
  }

  async #reload(sql: Sql): Promise<ReplicaDown> {
    const rows = await sql.all(`SELECT * FROM ${this.name} ORDER BY version`);
    this.#rows.clear();
    for (const row of rows) if (!isDeleted(row)) this.#rows.set(row["id"] as string, row);
    this.#version = Number(rows.at(-1)?.["version"] ?? -1);
    this.isLoaded = true;
    return this.#next(this.all());
  }

  #next(message: ReplicaDown): ReplicaDown {
    return { ...message, number: ++this.#number };
  }
}

function isDeleted(row: SqlRow): boolean {
  return row["deleted_at"] !== null;
}

/** The columns that only the keeper needs are left out. */
function shown({ version: _, deleted_at: __, ...row }: SqlRow): SqlRow {
  return row;
}
