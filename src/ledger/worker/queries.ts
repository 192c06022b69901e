/** Questions of a worker to the keeper for a client, apart from the path of calls. */
import { GatewayError } from "../../core/error.ts";
import type { Principal } from "../../core/principal.ts";
import type { BooksChannel } from "../channel.ts";
import type { BooksDown, KeyFigures, KeyQuery } from "../messages.ts";

/** Longest wait for an answer. Milliseconds. */
const WAIT_MS = 2000;

type Answer = Extract<BooksDown, { kind: "answer" }>;

export class Queries {
  readonly #channel: BooksChannel;
  readonly #waiting = new Map<number, { query: KeyQuery; end(answer: Answer | undefined): void }>();
  /** By the caller and what is asked of it. */
  readonly #asked = new Map<string, Promise<KeyFigures>>();
  #number = 0;

  constructor(channel: BooksChannel) {
    this.#channel = channel;
  }

  /**
   * A caller that asks again while the keeper reads its figures gets the same figures: it cannot cause more than one report at a
   * time.
   * @param path where its costs are summed up; absent: they are not wanted
   * @throws GatewayError `overloaded` if the keeper does not answer in time, or cannot read its store
   */
  ask(
    { id, key }: Pick<Principal, "id" | "key">,
    accounts: readonly string[],
    path?: string,
  ): Promise<KeyFigures> {
    const name = JSON.stringify([id, path]);
    let asked = this.#asked.get(name);
    if (!asked) {
      const query: KeyQuery = { what: "key", key: key?.id, accounts, ...(path !== undefined && { path }) };
      asked = this.#ask(query).finally(() => this.#asked.delete(name));
      this.#asked.set(name, asked);
    }
    return asked;
  }

  answered(answer: Answer): void {
    this.#waiting.get(answer.number)?.end(answer);
  }

  /** The connection is new: answers to earlier questions will not come. */
  resend(): void {
    for (const [number, { query }] of this.#waiting) this.#channel.send({ kind: "query", number, ...query });
  }

  async #ask(query: KeyQuery): Promise<KeyFigures> {
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const timer = setTimeout(() => resolve(undefined), WAIT_MS);
    this.#waiting.set(number, { query, end: resolve });
    this.#channel.send({ kind: "query", number, ...query });
    const answer = await promise;
    clearTimeout(timer);
    this.#waiting.delete(number);
    if (answer && "value" in answer) return answer.value;
    throw unreadable();
  }
}

/** The client does not learn why: the keeper's log has it. */
export function unreadable(): GatewayError {
  return new GatewayError("overloaded", "weir cannot read its books at the moment; retry in 5 s.", {
    code: "ledger_unavailable",
    retryAfter: 5,
  });
}
