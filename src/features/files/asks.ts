/** Questions of a worker to the part in the keeper, over their channel. */
import type { Channel } from "../../core/channel.ts";
import { GatewayError } from "../../core/error.ts";
import type { FilesAnswer, FilesAsk, FilesDown, FilesUp } from "./messages.ts";

/** Longest time of an answer. Milliseconds. */
const TIMEOUT_MS = 15_000;

/** How long a question waits for a keeper that starts. Milliseconds. */
const UP_MS = 5_000;

export class Asks {
  readonly #keeper: Channel<FilesUp, FilesDown>;
  readonly #waiting = new Map<number, (answer: FilesAnswer | null) => void>();
  #number = 0;
  #folder: string | undefined;
  /** Resolved when the keeper is there, perhaps again. */
  #up = Promise.withResolvers<void>();
  readonly #told = Promise.withResolvers<void>();

  constructor(keeper: Channel<FilesUp, FilesDown>) {
    this.#keeper = keeper;
  }

  /** @throws GatewayError 503 while the keeper is away, or its store cannot be used */
  async ask(ask: FilesAsk): Promise<FilesAnswer> {
    if (!this.#keeper.isUp) await Promise.race([this.#up.promise, Bun.sleep(UP_MS)]);
    const answer = this.#keeper.isUp ? await this.#answerTo(ask) : null;
    if (!answer) throw away();
    if (answer.refused !== "sealed") return answer;
    throw new GatewayError(
      "overloaded",
      "weir cannot open the key of its files: the operator has to set store.sealKey to the key with which they were written.",
      { code: "files_sealed" },
    );
  }

  /** The folder of files in the state folder. @throws GatewayError 503 while the keeper is away */
  async folder(): Promise<string> {
    if (this.#folder === undefined) await Promise.race([this.#told.promise, Bun.sleep(TIMEOUT_MS)]);
    if (this.#folder === undefined) throw away();
    return this.#folder;
  }

  received(message: FilesDown): void {
    if ("folder" in message) {
      this.#folder = message.folder;
      this.#told.resolve();
    } else this.#waiting.get(message.number)?.(message.answer);
  }

  /** The keeper is there. */
  came(): void {
    this.#up.resolve();
  }

  /** The keeper is gone: it answers nothing of what it was asked. */
  lost(): void {
    this.#up = Promise.withResolvers();
    for (const resolve of this.#waiting.values()) resolve(null);
  }

  #answerTo(ask: FilesAsk): Promise<FilesAnswer | null> {
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<FilesAnswer | null>();
    const timer = setTimeout(() => resolve(null), TIMEOUT_MS);
    this.#waiting.set(number, resolve);
    this.#keeper.send({ number, ask });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(number);
    });
  }
}

function away(): GatewayError {
  return new GatewayError("overloaded", "weir cannot reach its files at the moment; retry in 5 s.", {
    ...{ code: "files_unavailable", retryAfter: 5 },
  });
}
