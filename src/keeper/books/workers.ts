/** The workers of this node as the admin API sees them: their calls as they end and run, and answers to its questions. */
import { AdminError } from "../../operator/errors.ts";
import type { Question } from "../../ledger/messages.ts";
import type { CallRecord } from "../../ledger/record.ts";
import type { Books } from "./books.ts";
import { Pulse } from "../reports/pulse.ts";
import type { Questions } from "./questions.ts";

export class Workers {
  readonly pulse = new Pulse(Date.now());
  readonly #books: Books;
  readonly #watchers = new Set<(calls: readonly CallRecord[]) => void>();

  constructor(books: Books) {
    this.#books = books;
  }

  get workers() {
    return this.#books.workers;
  }

  get address() {
    return this.#books.questions.gateway;
  }

  reach() {
    return this.#books.questions.reach();
  }

  /** Records have arrived. @param now milliseconds since 1970 */
  heard(calls: readonly CallRecord[], now: number): void {
    this.pulse.add(calls, now);
    for (const receive of this.#watchers) receive(calls);
  }

  watch(receive: (calls: readonly CallRecord[]) => void): () => void {
    this.#watchers.add(receive);
    return () => this.#watchers.delete(receive);
  }

  running() {
    return this.#books.questions.running();
  }

  runningNow() {
    return this.#books.questions.runningNow();
  }

  /** Asks a worker. @throws AdminError 503 with its sentence */
  ask<Asked extends Question>(question: Asked) {
    return this.#asking((questions) => questions.ask(question));
  }

  /** Asks all workers. @throws AdminError 503 with the sentence of one */
  askAll<Asked extends Question>(question: Asked) {
    return this.#asking((questions) => questions.askAll(question));
  }

  async #asking<Value>(ask: (questions: Questions) => Promise<Value>): Promise<Value> {
    try {
      return await ask(this.#books.questions);
    } catch (cause) {
      const sentence = cause instanceof Error ? cause.message : String(cause);
      throw new AdminError(503, "gateway_failed", `The gateway cannot answer: ${sentence}.`);
    }
  }
}
