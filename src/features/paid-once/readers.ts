/** The clients of a kept answer, as sources of their streams. */
import type { GatewayError } from "../../core/error.ts";
import type { Frame } from "../../core/frame.ts";
import { Passed, type StreamEnding } from "../../gateway/delivery/stream.ts";
import type { Receiver } from "../../gateway/lanes/transport.ts";
import type { FanOut, ReaderPosition } from "./fan-out.ts";

/** Messages of readers to the answer that they read. */
export interface ReaderEvents {
  /** The client has got the end. */
  delivered(): void;
  /** The client is gone without the end, or the answer has failed. */
  left(reason: unknown): void;
}

abstract class Reader extends Passed {
  protected readonly fan: FanOut;
  protected readonly place: ReaderPosition;
  readonly #events: ReaderEvents;
  #isOver = false;

  constructor(fan: FanOut, events: ReaderEvents) {
    super(fan.source);
    this.fan = fan;
    this.place = fan.enter();
    this.#events = events;
  }

  override get error(): GatewayError | undefined {
    return this.fan.isEnded ? super.error : undefined;
  }

  protected override takeInto(receiver: Receiver): void {
    this.fan.take(this.place, receiver);
  }

  abstract override writeError(error: GatewayError): readonly Frame[] | undefined;

  override readOn(_ending: StreamEnding): boolean {
    return false;
  }

  override stop(reason: unknown): void {
    this.leave();
    this.over(() => this.#events.left(reason));
  }

  override end(): void {
    this.leave();
    const { error } = this;
    super.end();
    this.over(() => (error ? this.#events.left(error) : this.#events.delivered()));
  }

  override fail(thrown: unknown): void {
    super.fail(thrown);
    this.stop(thrown);
  }

  protected leave(): void {
    this.fan.leave(this.place);
  }

  protected over(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    tell();
  }
}

export interface FirstEvents extends ReaderEvents {
  readOn(ending: StreamEnding): boolean;
}

/** The client whose call it is. */
export class FirstReader extends Reader {
  readonly #first: FirstEvents;

  constructor(fan: FanOut, events: FirstEvents) {
    super(fan, events);
    this.#first = events;
  }

  override writeError(error: GatewayError): readonly Frame[] | undefined {
    return this.fan.writeError(error);
  }

  override readOn(ending: StreamEnding): boolean {
    if (!this.#first.readOn(ending)) return false;
    this.leave();
    this.over(() => {});
    return true;
  }
}

/** A client that repeats the request. */
export class RepeatReader extends Reader {
  /** Only the failure of the answer itself changes the state of its writer, which other clients share. */
  override writeError(error: GatewayError): readonly Frame[] | undefined {
    return this.fan.hasFailed ? this.fan.writeError(error) : undefined;
  }
}
