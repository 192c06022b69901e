/** One request of a modern client: a JSON answer, or a stream as soon as something comes before the answer. */
import type { JsonObject } from "../../../core/json.ts";
import type { Caller, Outcome } from "../asks.ts";
import type { ClientFacts } from "../servers/connection.ts";
import { eventText } from "../wire/events.ts";
import { type Answered, CODE, notificationOf, type RequestId, responseOf } from "../wire/messages.ts";
import { reaches } from "../wire/revisions.ts";
import type { Exchange } from "./exchange.ts";
import type { Pieces } from "./pieces.ts";

export const JSON_HEADERS = { "content-type": "application/json" };
export const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

export class ModernExchange implements Exchange {
  readonly era = "modern";
  readonly caller: Caller;
  readonly client: ClientFacts;
  readonly stop: AbortSignal;
  readonly params: Readonly<Record<string, string>>;
  readonly sample: Exchange["sample"];
  readonly #pieces: Pieces;
  #isStream = false;
  #isOver = false;

  constructor(
    pieces: Pieces,
    of: Pick<Exchange, "caller" | "client" | "stop" | "params"> & { readonly sample: Exchange["sample"] },
  ) {
    this.#pieces = pieces;
    this.caller = of.caller;
    this.client = of.client;
    this.stop = of.stop;
    this.params = of.params;
    this.sample = of.sample;
  }

  notify(method: string, params: JsonObject): void {
    const { logLevel } = this.client;
    if (method === "notifications/message" && (logLevel === undefined || !reaches(params["level"], logLevel)))
      return;
    this.send(notificationOf(method, params));
  }

  /** The modern era has no requests to clients: the forwarding code parks a call instead. */
  ask(method: string): Promise<Answered> {
    return Promise.resolve({ error: { code: CODE.method, message: `${method} has no place here` } });
  }

  send(message: object): void {
    if (this.#isOver) return;
    this.stream();
    this.#pieces.push({ events: eventText(JSON.stringify(message)) });
  }

  ready(): Promise<void> | undefined {
    return this.#pieces.ready();
  }

  /** Begins the stream. */
  stream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    this.#pieces.push({ status: 200, headers: STREAM_HEADERS, isStream: true });
  }

  finish(id: RequestId, answered: Answered, status: number, outcome: Outcome): void {
    const body = JSON.stringify(responseOf(id, answered));
    if (this.#isStream) this.#pieces.push({ events: eventText(body), outcome });
    else this.#pieces.push({ status, headers: JSON_HEADERS, body, outcome });
    this.#isOver = true;
    this.#pieces.end();
  }
}
