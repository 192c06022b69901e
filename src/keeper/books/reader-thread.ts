/** The thread that reads the file of the books for reports, and moves its log into it, so that neither stops the keeper. */
import { parentPort } from "node:worker_threads";
import { Database } from "bun:sqlite";
import { describeFailure } from "../database.ts";
import { Sqlite } from "./sqlite.ts";
import type { SqlRow, SqlValue } from "./sql.ts";

/** What the data of the thread names: the file. */
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

export function runReader({ readBooks }: ReaderData): void {
  let sql: Sqlite | undefined;
  let writer: Database | undefined;
  parentPort?.on("message", ({ number, kind, text, values }: ReaderAsk) => {
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
      (rows) => parentPort?.postMessage({ number, rows } satisfies ReaderAnswer),
      (cause: unknown) => {
        const error = `${readBooks} ${describeFailure(cause)}`;
        parentPort?.postMessage({ number, error } satisfies ReaderAnswer);
      },
    );
  });
}

function openReadOnly(path: string): Sqlite {
  const db = new Database(path, { readonly: true, strict: true });
  db.run("PRAGMA busy_timeout = 2000");
  return new Sqlite(db);
}
