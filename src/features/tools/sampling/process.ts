/** Servers that ask for models: the process of the tools asks the worker of the call. */
import type { JsonObject } from "../../../core/json.ts";
import type { SampledAsk } from "../asks.ts";
import type { Pieces } from "../bridge/pieces.ts";
import type { Exchange } from "../bridge/exchange.ts";
import type { ClientFacts } from "../servers/connection.ts";
import { withModels } from "./client.ts";
import { type Answered, CODE } from "../wire/messages.ts";

const METHOD = "sampling/createMessage";
/** Longest request of a server. Characters. */
const MOST_LENGTH = 4_194_304;
const TOO_LONG = `a request for a model has at most ${MOST_LENGTH} characters`;

/** What waits for workers. */
export class Samples {
  readonly #waiting = new Map<number, (answered: Answered) => void>();
  #last = 0;

  /** How a request asks models; undefined: its worker does not answer. */
  of({ samples }: { readonly samples?: true }, pieces: Pieces): Exchange["sample"] {
    return samples && ((params, stop) => this.#ask(pieces, params, stop));
  }

  answered({ id, answered }: SampledAsk): void {
    this.#waiting.get(id)?.(answered);
  }

  #ask(pieces: Pieces, params: JsonObject, stop: AbortSignal): Promise<Answered> {
    const id = ++this.#last;
    const { promise, resolve } = Promise.withResolvers<Answered>();
    const give = (answered: Answered) => {
      this.#waiting.delete(id);
      stop.removeEventListener("abort", ended);
      resolve(answered);
    };
    const ended = () => give(failed(CODE.request, "the call has ended"));
    this.#waiting.set(id, give);
    stop.addEventListener("abort", ended, { once: true });
    pieces.whenOver(ended);
    if (stop.aborted) ended();
    else pieces.push({ sample: { id, params } });
    return promise;
  }
}

/** The answers of models for one call of a tool. */
export class Sampling {
  readonly #most: number;
  #given: number;

  /** @param most answers; 0: the server may not ask @param given those that it had before */
  constructor(most: number, given = 0) {
    this.#most = most;
    this.#given = given;
  }

  /** Number of answers so far. */
  get given(): number {
    return this.#given;
  }

  /** Whether weir answers, whatever the client can. */
  serves({ sample }: Exchange, method: string): boolean {
    return method === METHOD && this.#most > 0 && sample !== undefined;
  }

  /** The client as the server sees it. */
  client(exchange: Exchange): ClientFacts {
    return this.serves(exchange, METHOD) ? withModels(exchange.client) : exchange.client;
  }

  async answer(exchange: Exchange, params: JsonObject): Promise<Answered> {
    if (!exchange.sample) return failed(CODE.method, "weir answers no servers any more");
    if (JSON.stringify(params).length > MOST_LENGTH) return failed(CODE.params, TOO_LONG);
    if (this.#given >= this.#most) return failed(CODE.limit, this.#tooMany());
    this.#given++;
    return exchange.sample(params, exchange.stop);
  }

  #tooMany(): string {
    return `the server has asked for ${this.#most} answers of models in one call, the most that it gets (tools.sampling.maxCalls)`;
  }
}

function failed(code: number, message: string): Answered {
  return { error: { code, message } };
}
