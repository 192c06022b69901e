/** Answers requests about stored answers from PostgreSQL: as the keeper does from its file, with a database that may be away. */
import { StoreLost } from "../store/store.ts";
import type { AnswerAsk, AnswerReply, Ask, Asks, Op, Results } from "../protocol.ts";
import type { Limits } from "../settings.ts";
import { PostgresAnswers } from "./postgres.ts";

/** Maximum number of answers in one transaction. */
const BATCH = 64;
const SWEEP_MS = 60_000;
/** Time after a failure before the next attempt to open the tables, or to undo what may be stored. */
const AGAIN_MS = 1_000;
/** Time after a change was lost before it is tried again. */
const LOST_MS = 100;
/** Maximum number of answers of unknown outcome that are undone later. */
const MAX_UNCLEAR = 10_000;

interface WaitingPut {
  put: Asks["put"];
  reply(this: void, value: Results["put"] | Error): void;
}

export class SharedAnswers {
  readonly #tables: PostgresAnswers;
  readonly #now: () => number;
  #opening: Promise<void> | undefined;
  #puts: WaitingPut[] = [];
  /** Ends when no answer waits. */
  #commits: Promise<void> | undefined;
  /** The transaction that runs. */
  #commit: Promise<void> | undefined;
  /** What may be stored although its sender was told that it is not. */
  #unclear: Asks["retract"][] = [];
  /** The changes of answers that run. */
  readonly #changes = new Set<Promise<Results["amend"]>>();
  #undo: ReturnType<typeof setTimeout> | undefined;
  readonly #sweep: ReturnType<typeof setInterval>;
  #closed = false;

  /** @param now milliseconds since 1970 */
  constructor(url: string, limits: Limits, now: () => number = Date.now) {
    this.#tables = new PostgresAnswers(url, limits, now);
    this.#now = now;
    this.#sweep = setInterval(() => void this.sweep(), SWEEP_MS);
    this.#sweep.unref();
  }

  /**
   * Begins to create the tables if they are absent, and waits for nothing: a server that is away must not delay the start.
   * The first answer that is not stored says so.
   */
  open(): undefined {
    this.#opened().catch(() => {});
  }

  /** @param reply called once with the result */
  handle({ number, ask }: AnswerAsk, reply: (message: AnswerReply) => void): void {
    const send = (value: Results[Op] | Error) =>
      reply(value instanceof Error ? { number, error: value.message } : { number, value });
    if (ask.op === "put") return this.#enqueue({ put: ask, reply: send });
    this.#answer(ask).then(send, (cause) => send(new Error(messageOf(cause))));
  }

  /** Deletes what has expired. */
  async sweep(): Promise<void> {
    try {
      while (!this.#closed && (await this.#tables.sweep()));
    } catch {
      // The next request reports what is wrong; the next sweep tries again.
    }
  }

  /** Commits what has arrived, and ends the connections. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    clearTimeout(this.#undo);
    await this.#commits;
    this.#closed = true;
    await this.#tables.close();
  }

  async #answer(ask: Exclude<Ask, { op: "put" }>): Promise<Results[Op]> {
    await this.#opened();
    switch (ask.op) {
      case "get":
        return this.#tables.get(ask);
      case "chain":
        return this.#tables.chain(ask);
      case "items":
        return this.#tables.items(ask);
      case "inputItems":
        return this.#tables.inputItems(ask);
      case "amend":
        return this.#amending(this.#amend(ask));
      case "list":
        return this.#tables.list(ask);
      case "delete":
        return this.#tables.delete(ask);
      case "retract":
        return this.#retract(ask);
    }
  }

  #amending(change: Promise<Results["amend"]>): Promise<Results["amend"]> {
    this.#changes.add(change);
    return change.finally(() => this.#changes.delete(change));
  }

  /** A transaction that was lost may have been committed: the next one sees whether it was. */
  async #amend(ask: Asks["amend"]): Promise<Results["amend"]> {
    try {
      return await this.#tables.amend(ask);
    } catch (cause) {
      if (!(cause instanceof StoreLost) || this.#closed) throw cause;
      // Its sender gives up at that time, and retracts it.
      if (this.#now() > ask.until) return "late";
      await Bun.sleep(LOST_MS);
      return this.#amend({ ...ask, again: true });
    }
  }

  async #retract(undo: Asks["retract"]): Promise<boolean> {
    const { id, owner, items } = undo;
    const found = this.#puts.findIndex(({ put: { answer } }) => answer.id === id && answer.owner === owner);
    if (found !== -1 && !items) {
      this.#puts.splice(found, 1)[0]!.reply("late");
      return true;
    }
    await (items ? Promise.allSettled(this.#changes) : this.#commit);
    try {
      return await this.#tables.undo(undo);
    } catch (cause) {
      this.#undoLater([undo]);
      throw cause;
    }
  }

  #enqueue(waiting: WaitingPut): void {
    this.#puts.push(waiting);
    this.#commits ??= this.#commitAll();
  }

  async #commitAll(): Promise<void> {
    // What arrives in the same turn of the loop is one transaction.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#puts.length > 0) await (this.#commit = this.#commitSome(this.#puts.splice(0, BATCH)));
    this.#commits = undefined;
  }

  async #commitSome(batch: readonly WaitingPut[]): Promise<void> {
    try {
      await this.#opened();
      const outcomes = await this.#tables.put(batch.map(({ put }) => put));
      batch.forEach(({ reply }, index) => reply(outcomes[index]!));
    } catch (cause) {
      if (cause instanceof StoreLost) this.#undoLater(batch.map(({ put: { answer } }) => answer));
      const error = new Error(messageOf(cause));
      for (const { reply } of batch) reply(error);
    }
  }

  /** An answer whose transaction was lost may be stored, and its client knows it as not stored. */
  #undoLater(all: readonly Asks["retract"][]): void {
    const plain = all.map(({ id, owner, items }) => ({ id, owner, ...(items && { items }) }));
    this.#unclear = [...this.#unclear, ...plain].slice(-MAX_UNCLEAR);
    this.#undo ??= setTimeout(() => void this.#undoNow(), AGAIN_MS);
    this.#undo.unref();
  }

  async #undoNow(): Promise<void> {
    this.#undo = undefined;
    const unclear = this.#unclear;
    this.#unclear = [];
    while (unclear.length > 0) {
      try {
        await this.#tables.undo(unclear[0]!);
        unclear.shift();
      } catch {
        return this.#undoLater(unclear);
      }
    }
  }

  /** @throws Error with one sentence */
  #opened(): Promise<void> {
    if (this.#closed) return Promise.reject(new Error("the keeper has ended"));
    this.#opening ??= this.#tables.open().catch((cause: unknown) => {
      setTimeout(() => (this.#opening = undefined), AGAIN_MS).unref();
      throw cause;
    });
    return this.#opening;
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
