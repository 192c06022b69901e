/** The answers of writes with an `Idempotency-Key`, so that a repeated request gets the same answer and writes nothing. */
import { AdminError } from "../operator/errors.ts";

export interface WriteAnswer {
  status: number;
  body: string;
  version?: string;
}

interface Entry {
  /** Digest of the request: another request with the same key is a mistake. */
  request: string;
  answer: Promise<WriteAnswer>;
  at: number;
}

/** How long an answer is kept, in memory only: it may hold the text of a new key. Milliseconds. */
const KEEP_MS = 600_000;
const MOST = 1_000;

export class IdempotentAnswers {
  readonly #entries = new Map<string, Entry>();

  /**
   * Runs `write` unless a request with the same key has. A write that fails is forgotten, so that it can be repeated.
   * @param key what identifies the caller and its `Idempotency-Key` @param request digest of method, path and body
   */
  async once(
    key: string,
    request: string,
    now: number,
    write: () => Promise<WriteAnswer>,
  ): Promise<WriteAnswer> {
    for (const [old, { at }] of this.#entries) {
      if (now - at < KEEP_MS && this.#entries.size <= MOST) break;
      this.#entries.delete(old);
    }
    const known = this.#entries.get(key);
    if (known && known.request !== request)
      throw new AdminError(
        422,
        "idempotency_key_reused",
        "The Idempotency-Key was used with another request; each request needs a key of its own.",
        { path: "header idempotency-key" },
      );
    if (known) return known.answer;
    const answer = write();
    this.#entries.set(key, { request, answer, at: now });
    answer.catch(() => this.#entries.delete(key));
    return answer;
  }
}
