/** What one guard asks: within its time, while its services work, and what becomes of the call where they do not. */
import { isCredential } from "../../../core/client-headers.ts";
import { GatewayError } from "../../../core/error.ts";
import type { HeaderReader } from "../../../core/headers.ts";
import type { Stoppable } from "../../../core/stop.ts";
import { type Answer, AskError, type Asker, type Batch, type CallFacts } from "./asker.ts";
import { Breaker } from "./breaker.ts";

export interface AskedOptions {
  /** Name of the guard. */
  readonly name: string;
  /** Longest time of one question, with its repetition. Milliseconds. */
  readonly timeoutMs: number;
  /** Whether calls go on without a verdict. */
  readonly passes: boolean;
  /** Lower-case names of headers of clients that its services get. */
  readonly forward: readonly string[];
  /** Logs a sentence as a fault. */
  fault(sentence: string): void;
}

export class Asked {
  readonly askers: readonly Asker[];
  readonly #options: AskedOptions;
  readonly #breakers: readonly Breaker[];
  #reported: { readonly sentence: string; readonly at: number } | undefined;

  constructor(askers: readonly Asker[], options: AskedOptions) {
    this.askers = askers;
    this.#options = options;
    this.#breakers = askers.map(() => new Breaker());
  }

  /** All that it asks reads what people and models say, and nothing else. */
  get isProse(): boolean {
    return this.askers.every(({ prose }) => prose);
  }

  /** Images are worth reading. */
  get images(): boolean {
    return this.askers.some(({ images }) => images);
  }

  /** Whether calls go on without a verdict. */
  get passes(): boolean {
    return this.#options.passes;
  }

  /**
   * @returns the answers in order; undefined: there is no verdict
   * @throws GatewayError the reason for which the call was stopped
   */
  async ask(batch: Batch): Promise<readonly Answer[] | undefined> {
    const { stop } = batch.parent;
    try {
      return await Promise.all(this.askers.map((asker, at) => this.#askOne(asker, at, batch, stop)));
    } catch (thrown) {
      if (stop.aborted) throw stop.reason;
      this.#report(sentenceOf(thrown));
      return undefined;
    }
  }

  /** What its services may know of a call. @param headers of the client */
  factsFor(facts: CallFacts, headers: HeaderReader): CallFacts {
    const found = this.#options.forward.flatMap((name) => {
      const value = headers.get(name);
      return value === null || isCredential(name) ? [] : [[name, value] as const];
    });
    return found.length === 0 ? facts : { ...facts, headers: Object.fromEntries(found) };
  }

  /** A service that is down would fill the log. */
  #report(sentence: string): void {
    const now = performance.now();
    if (this.#reported?.sentence === sentence && now - this.#reported.at < QUIET_MS) return;
    this.#reported = { sentence, at: now };
    this.#options.fault(`guards.${this.#options.name}: ${sentence}`);
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

/** For so long the same sentence is not repeated. Milliseconds. */
const QUIET_MS = 60_000;

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
