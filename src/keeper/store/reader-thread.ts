/** The thread that reads the file of the books for reports, and moves its log into it, so that neither stops the keeper. */
import { Database } from "bun:sqlite";
import { describeFailure } from "./database.ts";
import { Sqlite } from "./sqlite.ts";
import type { SqlRow, SqlValue } from "./sql.ts";

/** The first message of the thread names the file. */
export interface ReaderData {
  readBooks: string;
}

export interface ReaderAsk {
  number: number;
  /** `run`: a statement whose rows are not wanted. `checkpoint`: moves the write-ahead log into the file. */
  kind: "all" | "run" | "checkpoint";
  text: string;
  values: readonly SqlValue[];
}

export type ReaderAnswer = { number: number; rows: SqlRow[] } | { number: number; error: string };

/** @param send sends the answers @returns function that receives what is asked */
export function createReader(
  { readBooks }: ReaderData,
  send: (answer: ReaderAnswer) => void,
): (ask: ReaderAsk) => void {
  let sql: Sqlite | undefined;
  let writer: Database | undefined;
  return ({ number, kind, text, values }) => {
    const answer = async (): Promise<SqlRow[]> => {
      if (kind === "checkpoint") {
        writer ??= new Database(readBooks, { readwrite: true, strict: true });
        writer.run("PRAGMA wal_checkpoint(PASSIVE)");
        return [];
      }
      sql ??= openReadOnly(readBooks);
      if (kind === "all") return sql.all(text, values);
      await sql.run(text, values);
      return [];
    };
    answer().then(
      (rows) => send({ number, rows }),
      (cause: unknown) => {
        const error = `${readBooks} ${describeFailure(cause)}`;
        send({ number, error });
      },
    );
  };
}

function openReadOnly(path: string): Sqlite {
  const db = new Database(path, { readonly: true, strict: true });
  db.run("PRAGMA busy_timeout = 2000");
  return new Sqlite(db);
}
