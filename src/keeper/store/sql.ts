/** One connection to a SQL database, as the books use it. The statements are the same for both databases. */

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

export interface Sql {
  readonly dialect: "sqlite" | "postgres";
  /** @param text with parameters `$1`, `$2`, … @returns the rows; integers as numbers */
  all<Row = SqlRow>(text: string, values?: readonly SqlValue[]): Promise<Row[]>;
  /** @returns the number of rows that were changed */
  run(text: string, values?: readonly SqlValue[]): Promise<number>;
  /** Inserts rows with one statement or one prepared statement. @param onConflict the clause behind the values: `ON CONFLICT DO NOTHING` */
  insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    onConflict?: string,
  ): Promise<void>;
  /** Runs work in one transaction. Transactions run one after another; other statements wait for them. */
  transaction<Value>(work: (sql: Transaction) => Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

/** The connection inside a transaction. */
export interface Transaction extends Sql {
  /**
   * Runs work whose failure must not undo what the transaction did before: then only what the work did is undone.
   * @param ms most time of the work; later its statements are refused
   * @returns why the work was undone; undefined if it was not
   * @throws Error if the whole transaction is lost
   */
  savepoint(work: (sql: Sql) => Promise<void>, ms: number): Promise<Undone | undefined>;
}

export interface Undone {
  cause: unknown;
}
