/** Work of limited time inside a transaction. */
import type { Sql } from "./sql.ts";

/** The name of a savepoint: there is one at a time. */
export const SAVEPOINT = "part";

/** Work was undone because it took too long. */
export class TooLate extends Error {
  override readonly name = "TooLate";

  constructor(ms: number) {
    super(`it took longer than ${ms} ms`);
  }
}

/** Runs work that gets no statement through once its time is over. @throws TooLate */
export async function untilLate(sql: Sql, work: (sql: Sql) => Promise<void>, ms: number): Promise<void> {
  let isOver = false;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new TooLate(ms)), ms);
  const inTime = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
    if (isOver) throw new TooLate(ms);
    return ask();
  };
  const limited: Sql = {
    dialect: sql.dialect,
    all: (...given) => inTime(() => sql.all(...given)),
    run: (...given) => inTime(() => sql.run(...given)),
    insert: (...given) => inTime(() => sql.insert(...given)),
    transaction: () => Promise.reject(new Error("there is a transaction already")),
    close: async () => {},
  };
  try {
    await Promise.race([work(limited), late.promise]);
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}
