/**
 * The keeper of stored answers. It answers requests one by one, and commits all answers that arrive together in one
 * transaction, because each commit waits for the disk.
 */
import { AnswerFile } from "./file.ts";
import { describeFailure, openFile } from "../store/database.ts";
import { RESPONSES_MIGRATIONS } from "../store/migrations.ts";
import type { AnswerAsk, AnswerReply, Ask, Asks, Op, Results } from "../protocol.ts";
import type { AnswerSettings } from "../settings.ts";

/** Maximum number of answers in one transaction. */
const BATCH = 64;
/** Interval of the deletion of expired answers. Milliseconds. */
const SWEEP_MS = 60_000;
/** Content that a client deleted leaves the write-ahead log after this time. Milliseconds. */
const TIDY_MS = 1_000;
/** Time after a failed opening before the next attempt. Milliseconds. */
const REOPEN_MS = 5_000;

interface WaitingPut {
  put: Asks["put"];
  reply(this: void, value: Results["put"] | Error): void;
}

export class AnswerKeeper {
  readonly #settings: AnswerSettings;
  readonly #now: () => number;
  #file: AnswerFile | undefined;
  #fault: { sentence: string; at: number } | undefined;
  #puts: WaitingPut[] = [];
  #flush: ReturnType<typeof setImmediate> | undefined;
  #tidy: ReturnType<typeof setTimeout> | undefined;
  readonly #sweep: ReturnType<typeof setInterval>;
  #closed = false;

  /** @param now milliseconds since 1970 */
  constructor(settings: AnswerSettings, now: () => number = Date.now) {
    this.#settings = settings;
    this.#now = now;
    this.#sweep = setInterval(() => this.sweep(), SWEEP_MS);
    this.#sweep.unref();
  }

  /** Opens the file. A failed opening is repeated at later requests. @returns the sentence of a failure */
  open(): string | undefined {
    try {
      this.#opened();
      return undefined;
    } catch (cause) {
      return sentenceOf(cause);
    }
  }

  /** @param reply called once with the result, at once or after the commit */
  handle({ number, ask }: AnswerAsk, reply: (message: AnswerReply) => void): void {
    const send = (value: Results[Op] | Error) =>
      reply(value instanceof Error ? { number, error: value.message } : { number, value });
    if (ask.op === "put") return this.#enqueue({ put: ask, reply: send });
    try {
      send(this.#answer(ask));
    } catch (cause) {
      send(this.#describe(cause));
    }
  }

  /** Deletes what has expired and what exceeds the size of the file, in steps, so that requests are answered in between. */
  sweep(): void {
    clearTimeout(this.#tidy);
    this.#tidy = undefined;
    try {
      if (!this.#closed && this.#file?.sweep()) this.#sweepAfter(0);
    } catch {
      // The next request reports what is wrong with the file; the next sweep tries again.
    }
  }

  close(): void {
    if (this.#closed) return;
    clearInterval(this.#sweep);
    clearTimeout(this.#tidy);
    clearImmediate(this.#flush);
    this.#commit();
    this.#closed = true;
    this.#file?.close();
    this.#file = undefined;
  }

  #answer(ask: Exclude<Ask, { op: "put" }>): Results[Op] {
    const file = this.#opened();
    switch (ask.op) {
      case "get":
        return file.get(ask);
      case "chain":
        return file.chain(ask);
      case "items":
        return file.items(ask);
      case "inputItems":
        return file.inputItems(ask);
      case "amend":
        this.#sweepAfter(TIDY_MS);
        return file.amend(ask);
      case "list":
        return file.list(ask);
      case "delete":
        this.#sweepAfter(TIDY_MS);
        return file.delete(ask);
      case "retract":
        return this.#retract(ask, file);
    }
  }

  #retract(undo: Asks["retract"], file: AnswerFile): boolean {
    const { id, owner, items } = undo;
    const found = this.#puts.findIndex(({ put: { answer } }) => answer.id === id && answer.owner === owner);
    if (found === -1 || items) return file.undo(undo);
    this.#puts.splice(found, 1)[0]!.reply("late");
    return true;
  }

  #enqueue(waiting: WaitingPut): void {
    this.#puts.push(waiting);
    this.#flush ??= setImmediate(() => this.#commit());
  }

  #commit(): void {
    this.#flush = undefined;
    const batch = this.#puts.splice(0, BATCH);
    if (batch.length === 0) return;
    try {
      const file = this.#opened();
      const outcomes = file.put(batch.map(({ put }) => put));
      batch.forEach(({ reply }, index) => reply(outcomes[index]!));
      if (file.isOverfull) this.#sweepAfter(0);
    } catch (cause) {
      const error = this.#describe(cause);
      for (const { reply } of batch) reply(error);
    }
    if (this.#puts.length > 0) this.#flush = setImmediate(() => this.#commit());
  }

  #sweepAfter(ms: number): void {
    this.#tidy ??= setTimeout(() => this.sweep(), ms);
  }

  /** @throws Error with one sentence */
  #opened(): AnswerFile {
    if (this.#file) return this.#file;
    if (this.#closed) throw new Error("the keeper has ended");
    if (this.#fault && performance.now() - this.#fault.at < REOPEN_MS) throw new Error(this.#fault.sentence);
    try {
      const { path, limits } = this.#settings;
      this.#file = openFile(path, RESPONSES_MIGRATIONS, (db) => new AnswerFile(db, limits, this.#now));
      this.#fault = undefined;
    } catch (cause) {
      this.#fault = { sentence: sentenceOf(cause), at: performance.now() };
      throw cause;
    }
    this.#sweepAfter(TIDY_MS);
    return this.#file;
  }

  #describe(cause: unknown): Error {
    return this.#file
      ? new Error(`${this.#settings.path} ${describeFailure(cause)}`)
      : new Error(sentenceOf(cause));
  }
}

function sentenceOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
