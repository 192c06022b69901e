/** The source of a streamed answer that weir writes in the client's format. */
import type { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import type { AnswerWriter } from "../../core/format.ts";
import type { Frame } from "../../core/frame.ts";
import { writeFrame } from "../../stream/sse.ts";
import type { ByteSource } from "../delivery/stream.ts";
import type { EventSource } from "./event-source.ts";
import type { Meter } from "./meter.ts";

const encoder = new TextEncoder();

/** Gives one piece for each read of the events: everything that one network read brought in. */
export class TranslatedSource implements ByteSource {
  readonly #events: EventSource;
  readonly #meter: Meter;
  readonly #writer: AnswerWriter;
  /** What the current read has given so far, as SSE. */
  #text = "";
  #held: Uint8Array | undefined;
  #ended = false;
  /** What failed after the last piece. */
  #failure: { thrown: unknown } | undefined;

  constructor(events: EventSource, meter: Meter, writer: AnswerWriter) {
    this.#events = events;
    this.#meter = meter;
    this.#writer = writer;
  }

  async begin(): Promise<void> {
    this.#held = await this.#pull();
  }

  next(): Promise<Uint8Array | undefined> {
    const held = this.#held;
    if (!held) return this.#pull();
    this.#held = undefined;
    return Promise.resolve(held);
  }

  writeError(error: GatewayError): readonly Frame[] | undefined {
    return this.#writer.fail?.(error);
  }

  stop(reason: unknown): void {
    this.#events.stop(reason);
  }

  /** Not an async function: it would cost additional promises for each piece of a stream. */
  #pull(): Promise<Uint8Array | undefined> {
    if (this.#failure) return Promise.reject(this.#failure.thrown);
    if (this.#ended) return Promise.resolve(undefined);
    return this.#events.read(this.#write).then(this.#onRead, this.#onError);
  }

  readonly #write = (event: ChatEvent): void => {
    for (const frame of this.#writer.push(this.#meter.pass(event))) this.#text += writeFrame(frame);
  };

  readonly #onRead = (more: boolean): Uint8Array | undefined | Promise<Uint8Array | undefined> => {
    if (more) return this.#text === "" ? this.#readOn() : this.#take();
    this.#ended = true;
    try {
      this.#meter.end();
      for (const frame of this.#writer.end()) this.#text += writeFrame(frame);
    } catch (thrown) {
      return this.#onError(thrown);
    }
    return this.#take();
  };

  /** What came before the failure reaches the client first. */
  readonly #onError = (thrown: unknown): Uint8Array => {
    this.#events.stop(thrown);
    if (this.#text === "") throw thrown;
    this.#failure = { thrown };
    return this.#take()!;
  };

  /** Reads until something comes for the client. A loop: promises that wait for each other would pile up. */
  async #readOn(): Promise<Uint8Array | undefined> {
    try {
      for (;;) {
        const more = await this.#events.read(this.#write);
        if (!more || this.#text !== "") return await this.#onRead(more);
      }
    } catch (thrown) {
      return this.#onError(thrown);
    }
  }

  #take(): Uint8Array | undefined {
    if (this.#text === "") return undefined;
    const piece = encoder.encode(this.#text);
    this.#text = "";
    return piece;
  }
}
