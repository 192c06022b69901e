/** Questions of a worker to the part in the keeper, over their channel. */
import type { Channel } from "../../core/channel.ts";
import { GatewayError } from "../../core/error.ts";
import type { BatchAnswer, BatchAsk, BatchesDown, BatchesUp } from "./messages.ts";

/** Longest time of an answer. Milliseconds. */
const TIMEOUT_MS = 15_000;

export class Asks {
  readonly #keeper: Pick<Channel<BatchesUp, BatchesDown>, "isUp" | "send">;
  readonly #waiting = new Map<number, (answer: BatchAnswer | undefined) => void>();
  #number = 0;

  constructor(keeper: Pick<Channel<BatchesUp, BatchesDown>, "isUp" | "send">) {
    this.#keeper = keeper;
  }

  /** @throws GatewayError 503 while the keeper is away */
  async ask(ask: BatchAsk): Promise<BatchAnswer> {
    const answer = this.#keeper.isUp ? await this.#answerTo(ask) : undefined;
    if (answer) return answer;
    throw new GatewayError("overloaded", "The gateway cannot look at batches at the moment; retry in 5 s.", {
      ...{ code: "keeper_away", retryAfter: 5 },
    });
  }

  received(number: number, answer: BatchAnswer | undefined): void {
    this.#waiting.get(number)?.(answer);
  }

  /** The keeper is gone: it answers nothing of what it was asked. */
  lost(): void {
    for (const resolve of this.#waiting.values()) resolve(undefined);
  }

  #answerTo(ask: BatchAsk): Promise<BatchAnswer | undefined> {
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<BatchAnswer | undefined>();
    const timer = setTimeout(() => resolve(undefined), TIMEOUT_MS);
    this.#waiting.set(number, resolve);
    this.#keeper.send({ number, ask });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(number);
    });
  }
}
