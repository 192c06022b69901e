/**
 * Calls of modern clients at legacy servers that wait for the client: the request at the server stays open, and the client's next
 * request brings what the server asked for.
 */
import { randomBytes } from "node:crypto";
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Connection } from "../servers/connection.ts";
import { Sampling } from "../sampling/process.ts";
import { type Answered, CODE, McpError } from "../wire/messages.ts";
import { type Exchange, type Forwarded, lacking } from "./exchange.ts";

/** Longest wait for the client. Milliseconds. */
const WAIT_MS = 300_000;
/** Time in which requests that a server sends together are collected. Milliseconds. */
const GATHER_MS = 5;
const MOST_OF_CALLER = 16;
const MOST = 256;

interface Wish {
  readonly method: string;
  readonly params: JsonObject;
  answer(answered: Answered): void;
}

/** What a leg of a call came to: the answer, or what the server wants of the client. */
export type Leg = Answered | { readonly parked: string; readonly inputRequests: JsonObject };

export class ParkedCalls {
  readonly #calls = new Map<string, ParkedCall>();
  readonly #waitMs: number;

  /** @param waitMs longest wait for the client */
  constructor(waitMs = WAIT_MS) {
    this.#waitMs = waitMs;
  }

  /** Runs a request until its answer, or until the server needs the client. */
  async begin(exchange: Exchange, connection: Connection, asked: Omit<Forwarded, "server">): Promise<Leg> {
    const call = new ParkedCall(exchange, new Sampling(asked.samples));
    void call.run(connection, asked);
    return this.#leg(call, exchange);
  }

  /** @throws McpError for a call that is gone */
  resume(id: string, exchange: Exchange, responses: JsonObject): Promise<Leg> {
    const call = this.#calls.get(id);
    if (!call || call.caller !== exchange.caller.id)
      throw new McpError(CODE.internal, "the waiting call ended: its server no longer waits for an answer");
    this.#calls.delete(id);
    call.take(exchange, responses);
    return this.#leg(call, exchange);
  }

  /** Ends the calls at a server. */
  close(reason: Error): void {
    for (const call of this.#calls.values()) call.stop(reason);
    this.#calls.clear();
  }

  get size(): number {
    return this.#calls.size;
  }

  async #leg(call: ParkedCall, exchange: Exchange): Promise<Leg> {
    const left = () => call.stop(exchange.stop.reason);
    exchange.stop.addEventListener("abort", left, { once: true });
    try {
      const answered = await call.next();
      if (answered) return answered;
      return { parked: this.#park(call), inputRequests: call.questions() };
    } finally {
      exchange.stop.removeEventListener("abort", left);
    }
  }

  #park(call: ParkedCall): string {
    let own = 0;
    for (const { caller } of this.#calls.values()) if (caller === call.caller) own++;
    if (own >= MOST_OF_CALLER || this.#calls.size >= MOST) {
      const message = `too many calls wait for their clients (${own} of this key, ${this.#calls.size} in all)`;
      call.stop(new Error(message));
      throw new McpError(CODE.limit, message, {
        data: { code: "too_many_waiting_calls", retryAfter: 60 },
        status: 429,
      });
    }
    const id = randomBytes(12).toString("base64url");
    this.#calls.set(id, call);
    call.expire(this.#waitMs, () => this.#calls.delete(id));
    return id;
  }
}

class ParkedCall {
  readonly caller: string;
  readonly #stop = new AbortController();
  readonly #questions = new Map<string, Wish>();
  readonly #sampling: Sampling;
  #exchange: Exchange;
  /** Resolves when the client is back, or the call has ended. */
  #away: PromiseWithResolvers<void> | undefined;
  /** Models that answer. */
  #sampled = 0;
  #number = 0;
  #answered: Answered | undefined;
  #failed: { thrown: unknown } | undefined;
  #wake: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(exchange: Exchange, sampling: Sampling) {
    this.#sampling = sampling;
    this.caller = exchange.caller.id;
    this.#exchange = exchange;
  }

  async run(connection: Connection, { method, params, headers }: Omit<Forwarded, "server">): Promise<void> {
    const client = this.#sampling.client(this.#exchange);
    try {
      this.#answered = await connection.request({
        ...{ method, params, client, stop: this.#stop.signal },
        ...(headers && { headers }),
        notify: (name, told) => this.#exchange.notify(name, told),
        ready: () => this.#exchange.ready?.(),
        ask: (name, wanted) => this.#ask(name, wanted),
      });
    } catch (thrown) {
      this.#failed = { thrown };
    }
    clearTimeout(this.#timer);
    this.#wake?.();
  }

  /** @returns the answer; undefined when the server waits for the client @throws what the request threw */
  async next(): Promise<Answered | undefined> {
    for (;;) {
      if (this.#failed) throw this.#failed.thrown;
      if (this.#answered) return this.#answered;
      // A model answers for the request of the client that runs.
      if (this.#questions.size > 0 && this.#sampled === 0) {
        const before = this.#questions.size;
        await Bun.sleep(GATHER_MS);
        if (this.#questions.size === before && this.#sampled === 0 && !this.#isOver) {
          this.#away = Promise.withResolvers();
          return undefined;
        }
        continue;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
  }

  get #isOver(): boolean {
    return this.#answered !== undefined || this.#failed !== undefined;
  }

  /** The member `inputRequests` of a result. */
  questions(): JsonObject {
    return Object.fromEntries(
      Array.from(this.#questions, ([key, { method, params }]) => [key, { method, params }]),
    );
  }

  take(exchange: Exchange, responses: JsonObject): void {
    clearTimeout(this.#timer);
    this.#exchange = exchange;
    this.#back();
    for (const [key, wish] of this.#questions) {
      const response = responses[key];
      if (!isObject(response)) continue;
      this.#questions.delete(key);
      wish.answer({ result: response });
    }
  }

  expire(ms: number, expired: () => void): void {
    this.#timer = setTimeout(() => {
      expired();
      this.stop(new Error(`the client did not answer within ${ms / 1000} s`));
    }, ms);
    this.#timer.unref();
  }

  stop(reason: unknown): void {
    clearTimeout(this.#timer);
    this.#back();
    this.#stop.abort(reason instanceof Error ? reason : new Error("the client has gone"));
  }

  /** The call fails for the client, whatever the server makes of that. */
  #lacks(capability: string): Answered {
    const message = `the tool needs the client's capability ${capability}, which it has not declared`;
    const data = { requiredCapabilities: { [capability]: {} } };
    this.#failed ??= { thrown: new McpError(CODE.capability, message, { data, status: 400 }) };
    this.#wake?.();
    return { error: { code: CODE.method, message } };
  }

  #back(): void {
    this.#away?.resolve();
    this.#away = undefined;
  }

  async #sample(params: JsonObject): Promise<Answered> {
    await this.#away?.promise;
    this.#sampled++;
    try {
      return await this.#sampling.answer(this.#exchange, params);
    } finally {
      this.#sampled--;
      this.#wake?.();
    }
  }

  #ask(method: string, params: JsonObject): Promise<Answered> {
    if (this.#sampling.serves(this.#exchange, method)) return this.#sample(params);
    const missing = lacking(this.#exchange.client, method);
    if (missing !== undefined) return Promise.resolve(this.#lacks(missing));
    const { promise, resolve } = Promise.withResolvers<Answered>();
    this.#questions.set(`${method.split("/")[0]}-${++this.#number}`, { method, params, answer: resolve });
    this.#wake?.();
    return promise;
  }
}
