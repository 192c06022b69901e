/** The side of the process of a feature: answers the asks of the workers. A piece is produced when its reader wants it. */
import { LastPiece, ServiceError } from "../core/lines.ts";
import { type Attended, listenAt, type ListeningSocket } from "../process/sockets.ts";
import type { Fault, FromService, ToService } from "./messages.ts";
import type { Peer, ServicePart } from "./seams.ts";

/** @param path path of the socket @param report logs an error that is no ServiceError */
export function listenService(
  path: string,
  part: ServicePart,
  report: (text: string) => void,
): Promise<ListeningSocket> {
  return listenAt<FromService, ToService>(path, (send) => new Connection(part, send, report), {
    isJson: true,
  });
}

interface Answer {
  readonly pieces: AsyncIterator<unknown>;
  readonly stop: AbortController;
}

/** One worker. */
class Connection implements Attended<ToService> {
  readonly #part: ServicePart;
  readonly #send: (message: FromService) => void;
  readonly #report: (text: string) => void;
  readonly #answers = new Map<number, Answer>();
  readonly #peer = { introduction: undefined as unknown } satisfies Peer;

  constructor(part: ServicePart, send: (message: FromService) => void, report: (text: string) => void) {
    this.#part = part;
    this.#send = send;
    this.#report = report;
    send({ ready: true });
  }

  receive(message: ToService): void {
    if ("introduce" in message) return this.#introduce(message.introduce);
    if ("ask" in message) return this.#answer(message.ask, message.message);
    if ("want" in message) return void this.#produce(message.want);
    this.#end(message.gone);
  }

  ended(): void {
    for (const number of [...this.#answers.keys()]) this.#end(number);
  }

  #introduce(introduction: unknown): void {
    this.#peer.introduction = introduction;
    try {
      this.#part.introduced?.(introduction, this.#peer);
    } catch (cause) {
      this.#report(textOf(cause));
    }
  }

  #answer(number: number, message: unknown): void {
    const stop = new AbortController();
    try {
      const pieces = this.#part.answer(message, this.#peer, stop.signal)[Symbol.asyncIterator]();
      this.#answers.set(number, { pieces, stop });
    } catch (cause) {
      return this.#send({ end: number, fault: this.#faultOf(cause) });
    }
    void this.#produce(number);
  }

  async #produce(number: number): Promise<void> {
    const answer = this.#answers.get(number);
    if (!answer) return;
    let message: FromService;
    try {
      const { done, value } = await answer.pieces.next();
      if (done) message = { end: number };
      else if (value instanceof LastPiece) message = { piece: number, value: value.value, last: true };
      else message = { piece: number, value };
    } catch (cause) {
      if (!this.#answers.has(number)) return;
      message = { end: number, fault: this.#faultOf(cause) };
    }
    if (!this.#answers.has(number)) return;
    if ("end" in message || message.last) this.#answers.delete(number);
    this.#send(message);
  }

  /** The reader has gone. */
  #end(number: number): void {
    const answer = this.#answers.get(number);
    if (!answer) return;
    this.#answers.delete(number);
    answer.stop.abort();
    // What the work throws now has no reader.
    answer.pieces.return?.().catch(() => {});
  }

  #faultOf(cause: unknown): Fault {
    if (cause instanceof ServiceError)
      return { message: cause.message, ...(cause.data !== undefined && { data: cause.data }) };
    this.#report(textOf(cause));
    return { message: "the process of the feature failed; its log says why" };
  }
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
