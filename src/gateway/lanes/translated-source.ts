/** The source of a streamed answer that weir writes in the client's format. */
import type { Call } from "../../core/call.ts";
import type { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import type { AnswerOutcome, AnswerWriter } from "../../core/format.ts";
import type { Frame } from "../../core/frame.ts";
import type { JsonObject } from "../../core/json.ts";
import { writeFrame } from "../../stream/sse.ts";
import type { ByteSource } from "../delivery/stream.ts";
import type { EventReceiver, EventSource } from "./event-source.ts";
import type { Meter } from "./meter.ts";
import type { Receiver } from "./transport.ts";
import { nextPiece } from "./transport.ts";

const encoder = new TextEncoder();

/** Stores a whole answer. Never rejects. @returns whether it is stored */
export type KeepAnswer = (answer: JsonObject) => Promise<boolean>;

/** Gives one piece for each read of the events: everything that one network read brought in. */
export class TranslatedSource implements ByteSource, EventReceiver {
  readonly #events: EventSource;
  readonly #meter: Meter;
  readonly #writer: AnswerWriter;
  readonly #keep: KeepAnswer | undefined;
  readonly #call: Pick<Call, "watched">;
  #receiver!: Receiver;
  /** Output of the current read so far, as SSE. */
  #text = "";
  #held: Uint8Array | undefined;
  #ended = false;
  /** The failure after the last piece. */
  #failure: { thrown: unknown } | undefined;

  /** @param keep called before the terminator, which says whether the answer is stored @param call the one that is answered */
  constructor(
    events: EventSource,
    meter: Meter,
    writer: AnswerWriter,
    keep?: KeepAnswer,
    call: Pick<Call, "watched"> = {},
  ) {
    this.#call = call;
    this.#keep = keep;
    this.#events = events;
    this.#meter = meter;
    this.#writer = writer;
  }

  async begin(): Promise<void> {
    this.#held = (await nextPiece(this)).value;
  }

  take(receiver: Receiver): void {
    this.#receiver = receiver;
    const held = this.#held;
    this.#held = undefined;
    if (held) receiver.piece(held);
    else if (this.#failure) receiver.fail(this.#failure.thrown);
    else if (this.#ended) receiver.end();
    else this.#events.read(this);
  }

  writeError(error: GatewayError): readonly Frame[] | undefined {
    return this.#writer.fail?.(error);
  }

  stop(reason: unknown): void {
    this.#events.stop(reason);
  }

  event(event: ChatEvent): void {
    for (const frame of this.#writer.push(this.#meter.pass(event))) this.#text += writeFrame(frame);
  }

  read(more: boolean): void {
    if (more) return this.#text === "" ? this.#events.read(this) : this.#give();
    this.#ended = true;
    if (this.#keep) void this.#keepAndEnd(this.#keep);
    else this.#end();
  }

  #end(outcome?: AnswerOutcome): void {
    try {
      this.#meter.end();
      for (const frame of this.#writer.end(outcome)) this.#text += writeFrame(frame);
    } catch (thrown) {
      return this.fail(thrown);
    }
    if (this.#text === "") this.#receiver.end();
    else this.#give();
  }

  /** The answer must be stored before its client can know that it is complete, and continue it. */
  async #keepAndEnd(keep: KeepAnswer): Promise<void> {
    try {
      this.#meter.end();
      this.#end({ isStored: await keep(this.#writer.answer!()) });
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  /** Output before the failure reaches the client first. */
  fail(thrown: unknown): void {
    this.#events.stop(thrown);
    if (this.#text === "") return this.#receiver.fail(thrown);
    this.#failure = { thrown };
    this.#give();
  }

  #give(): void {
    const piece = encoder.encode(this.#text);
    this.#text = "";
    this.#call.watched?.(piece);
    this.#receiver.piece(piece);
  }
}
