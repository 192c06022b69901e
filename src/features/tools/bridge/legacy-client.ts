/** One request of a legacy client in its session. */
import type { JsonObject } from "../../../core/json.ts";
import type { Caller, Outcome } from "../asks.ts";
import type { ClientFacts } from "../servers/connection.ts";
import { type Answered, notificationOf, type RequestId, responseOf } from "../wire/messages.ts";
import { reaches } from "../wire/revisions.ts";
import type { Exchange } from "./exchange.ts";
import { JSON_HEADERS, STREAM_HEADERS } from "./modern-client.ts";
import type { Pieces } from "./pieces.ts";
import type { Session, Stream } from "./sessions.ts";

export class LegacyExchange implements Exchange {
  readonly era = "legacy";
  readonly caller: Caller;
  readonly params = {};
  readonly stop: AbortSignal;
  readonly sample: Exchange["sample"];
  readonly #session: Session;
  readonly #pieces: Pieces;
  #stream: Stream | undefined;
  #isOver = false;
  #isPrimed = false;

  constructor(
    pieces: Pieces,
    session: Session,
    caller: Caller,
    stop: AbortSignal,
    sample?: Exchange["sample"],
  ) {
    this.#pieces = pieces;
    this.#session = session;
    this.caller = caller;
    this.stop = stop;
    this.sample = sample;
  }

  get session(): string {
    return this.#session.id;
  }

  get client(): ClientFacts {
    const { client, logLevel } = this.#session;
    return logLevel === undefined ? client : { ...client, logLevel };
  }

  notify(method: string, params: JsonObject): void {
    const { logLevel } = this.#session;
    if (method === "notifications/message" && logLevel !== undefined && !reaches(params["level"], logLevel))
      return;
    if (!this.#isOver) this.#streamed().send(notificationOf(method, params));
  }

  ask(method: string, params: JsonObject): Promise<Answered> {
    return this.#session.ask(this.#streamed(), method, params, this.stop);
  }

  finish(id: RequestId, answered: Answered, outcome: Outcome): void {
    const message = responseOf(id, answered);
    this.#isOver = true;
    // A client whose connection broke reads the answer on.
    if (this.#stream || this.#pieces.isLeft) {
      const stream = this.#streamed();
      stream.send(message);
      this.#pieces.push({ events: "", outcome });
      stream.end();
    } else this.#pieces.push({ status: 200, headers: JSON_HEADERS, body: JSON.stringify(message), outcome });
    this.#pieces.end();
  }

  ready(): Promise<void> | undefined {
    return this.#pieces.ready();
  }

  primed(retryMs: number): void {
    if (this.#stream || this.#isOver) return;
    this.#streamed().prime(retryMs);
    this.#isPrimed = true;
  }

  paused(): void {
    if (this.#isPrimed && !this.#isOver) this.#pieces.push({ pause: true });
  }

  /** Ends without an answer: the client has cancelled. */
  cancelled(): void {
    this.#isOver = true;
    this.#streamed().end();
    this.#pieces.end();
  }

  #streamed(): Stream {
    if (!this.#stream) {
      this.#stream = this.#session.newStream();
      this.#pieces.push({ status: 200, headers: STREAM_HEADERS, isStream: true });
      // The client may read on elsewhere; the books still wait here for the outcome.
      this.#stream.attach(this.#pieces, 0, () => {});
    }
    return this.#stream;
  }
}
