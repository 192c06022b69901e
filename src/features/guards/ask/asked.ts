/** What one guard asks: within its time, while its services work, and what becomes of the call where they do not. */
import { GatewayError } from "../../../core/error.ts";
import type { Stoppable } from "../../../core/stop.ts";
import { type Answer, AskError, type Asker, type Batch } from "./asker.ts";
import { Breaker } from "./breaker.ts";

export interface AskedOptions {
  /** Name of the guard. */
  readonly name: string;
  /** Longest time of one question, with its repetition. Milliseconds. */
  readonly timeoutMs: number;
  /** Whether calls go on without a verdict. */
  readonly passes: boolean;
  /** Logs a sentence as a fault. */
  fault(sentence: string): void;
}

export class Asked {
  readonly askers: readonly Asker[];
  readonly #options: AskedOptions;
  readonly #breakers: readonly Breaker[];

  constructor(askers: readonly Asker[], options: AskedOptions) {
    this.askers = askers;
    this.#options = options;
    this.#breakers = askers.map(() => new Breaker());
  }

  /** Images are worth reading. */
  get images(): boolean {
    return this.askers.some(({ images }) => images);
  }

  /**
   * @param stop of the call
   * @returns the answers in order; undefined: one of them has none, and calls go on without it
   * @throws GatewayError if there is no verdict and calls do not go on without one, and the reason of `stop`
   */
  async ask(batch: Batch, stop: Stoppable): Promise<readonly Answer[] | undefined> {
    try {
      return await Promise.all(this.askers.map((asker, at) => this.#askOne(asker, at, batch, stop)));
    } catch (thrown) {
      if (stop.aborted) throw stop.reason;
      this.#options.fault(`guards.${this.#options.name}: ${sentenceOf(thrown)}`);
      if (this.#options.passes) return undefined;
      throw unavailable(this.#options.name);
    }
  }

  async #askOne(asker: Asker, at: number, batch: Batch, stop: Stoppable): Promise<Answer> {
    const breaker = this.#breakers[at]!;
    if (!breaker.admits(performance.now()))
      throw new AskError(`${asker.name} has failed several times; weir asks it again in some seconds`);
    const { timeoutMs } = this.#options;
    const ending = new AbortController();
    const abort = () => ending.abort(stop.reason);
    const { promise: ended, reject } = Promise.withResolvers<never>();
    ending.signal.addEventListener("abort", () => reject(ending.signal.reason));
    const timer = setTimeout(
      () => ending.abort(new AskError(`${asker.name} gave no verdict within ${timeoutMs} ms`)),
      timeoutMs,
    );
    stop.addEventListener("abort", abort);
    if (stop.aborted) abort();
    try {
      const answer = await Promise.race([asker.ask(batch, ending.signal), ended]);
      breaker.succeeded();
      return answer;
    } catch (thrown) {
      // An ended call says nothing about the service.
      if (stop.aborted) breaker.released();
      else breaker.failed(performance.now());
      throw thrown;
    } finally {
      clearTimeout(timer);
      stop.removeEventListener("abort", abort);
    }
  }
}

/** Of another error only the kind: its words may have parts of a text. */
function sentenceOf(thrown: unknown): string {
  if (thrown instanceof AskError) return thrown.message;
  if (thrown instanceof GatewayError) return `no verdict: ${thrown.code ?? thrown.kind}`;
  return `no verdict: ${thrown instanceof Error ? thrown.name : typeof thrown}`;
}

/** Seconds after which a client may try again. */
const RETRY_AFTER = 5;

export function unavailable(name: string): GatewayError {
  return new GatewayError(
    "overloaded",
    `The guard ${JSON.stringify(name)} cannot judge this call now, and lets nothing pass without a verdict. Repeat the request.`,
    { code: "guard_unavailable", retryAfter: RETRY_AFTER },
  );
}
