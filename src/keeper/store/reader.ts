/** A read-only connection to the file of the books, in a thread of its own that ends when nothing is asked for a while. */
import { OwnThread } from "../../process/own-thread.ts";
import type { ReaderAnswer, ReaderAsk, ReaderData } from "./reader-thread.ts";
import type { Sql, SqlRow, SqlValue, Transaction } from "./sql.ts";

/** The thread needs 5 MB. Milliseconds. */
const IDLE_MS = 30_000;

interface Waiting {
  resolve(rows: SqlRow[]): void;
  reject(cause: Error): void;
}

export class Reader implements Sql {
  readonly dialect = "sqlite";
  readonly #path: string;
  #thread: OwnThread<ReaderAsk | ReaderData, ReaderAnswer> | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #number = 0;
  #idle: Timer | undefined;
  /** Reports run one after another: a transaction belongs to the connection. */
  #tail: Promise<unknown> = Promise.resolve();

  /** @param path of `weir.db`, which must exist */
  constructor(path: string) {
    this.#path = path;
  }

  all<Row = SqlRow>(text: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#inTurn(() => this.#ask("all", text, values)) as Promise<Row[]>;
  }

  async run(text: string, values: readonly SqlValue[] = []): Promise<number> {
    await this.#inTurn(() => this.#ask("run", text, values));
    return 0;
  }

  insert(): Promise<void> {
    return Promise.reject(new Error("a reader cannot write"));
  }

  /** All statements of the work see the books at one moment. */
  transaction<Value>(work: (sql: Transaction) => Promise<Value>): Promise<Value> {
    const inner: Transaction = {
      dialect: this.dialect,
      all: <Row>(text: string, values: readonly SqlValue[] = []) =>
        this.#ask("all", text, values) as Promise<Row[]>,
      run: async (text, values = []) => (await this.#ask("run", text, values)).length,
      insert: () => this.insert(),
      transaction: (nested) => nested(inner),
      savepoint: () => Promise.reject(new Error("a reader cannot write")),
      close: async () => {},
    };
    return this.#inTurn(async () => {
      await this.#ask("run", "BEGIN", []);
      try {
        return await work(inner);
      } finally {
        await this.#ask("run", "COMMIT", []).catch(() => {});
      }
    });
  }

  /** Moves the write-ahead log into the file while the keeper writes. It waits for the disk, so the keeper does not do it. */
  async checkpoint(): Promise<void> {
    await this.#inTurn(() => this.#ask("checkpoint", "", []));
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#lose(new Error("the books were closed"));
    thread?.terminate();
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => {});
    return result;
  }

  #ask(kind: ReaderAsk["kind"], text: string, values: readonly SqlValue[]): Promise<SqlRow[]> {
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<SqlRow[]>();
    const number = this.#number++;
    this.#waiting.set(number, { resolve, reject });
    this.#thread.post({ number, kind, text, values });
    return promise;
  }

  #start(): OwnThread<ReaderAsk | ReaderData, ReaderAnswer> {
    const thread = new OwnThread<ReaderAsk | ReaderData, ReaderAnswer>({
      message: (answer) => this.#receive(answer),
      ended: () => {
        if (this.#thread === thread) this.#lose(new Error("the thread that reads the books ended"));
      },
    });
    thread.post({ readBooks: this.#path });
    return thread;
  }

  #receive(answer: ReaderAnswer): void {
    const waiting = this.#waiting.get(answer.number);
    this.#waiting.delete(answer.number);
    if ("error" in answer) waiting?.reject(new Error(answer.error));
    else waiting?.resolve(answer.rows);
    if (this.#waiting.size > 0) return;
    // After a failure the file may be another one.
    if ("error" in answer) return void this.close();
    this.#idle = setTimeout(() => void this.close(), IDLE_MS);
    this.#idle.unref();
  }

  #lose(fault: Error): void {
    this.#thread = undefined;
    for (const { reject } of this.#waiting.values()) reject(fault);
    this.#waiting.clear();
  }
}
