/** The clients of a kept answer, as sources of their streams. */
import type { GatewayError } from "../../core/error.ts";
import type { BrokenStream } from "../../core/format.ts";
import type { Frame } from "../../core/frame.ts";
import type { ByteSource, StreamEnding } from "../../gateway/delivery/stream.ts";
import type { Receiver } from "../../gateway/lanes/transport.ts";
import type { FanOut, ReaderPosition } from "./fan-out.ts";

/** Messages of readers to the answer that they read. */
export interface ReaderEvents {
  /** The client has got the end. */
  delivered(): void;
  /** The client is gone without the end, or the answer has failed. */
  left(reason: unknown): void;
}

abstract class Reader implements ByteSource, Receiver {
  protected readonly fan: FanOut;
  protected readonly place: ReaderPosition;
  readonly #events: ReaderEvents;
  #receiver!: Receiver;
  #isOver = false;

  constructor(fan: FanOut, events: ReaderEvents) {
    this.fan = fan;
    this.place = fan.enter();
    this.#events = events;
  }

  /** The first client has waited for the beginning of the answer. */
  begin(): Promise<void> {
    return this.fan.source.begin();
  }

  get isWaiting(): boolean {
    return this.fan.source.isWaiting ?? false;
  }

  get error(): GatewayError | undefined {
    return this.fan.isEnded ? this.fan.source.error : undefined;
  }

  take(receiver: Receiver): void {
    this.#receiver = receiver;
    this.fan.take(this.place, this);
  }

  broken(): BrokenStream {
    return this.fan.source.broken?.() ?? {};
  }

  beforeError(): string {
    return this.fan.source.beforeError?.() ?? "";
  }

  abstract writeError(error: GatewayError): readonly Frame[] | undefined;

  stop(reason: unknown): void {
    this.leave();
    this.over(() => this.#events.left(reason));
  }

  piece(bytes: Uint8Array): void {
    this.#receiver.piece(bytes);
  }

  end(): void {
    this.leave();
    const { error } = this;
    this.#receiver.end();
    this.over(() => (error ? this.#events.left(error) : this.#events.delivered()));
  }

  fail(thrown: unknown): void {
    this.#receiver.fail(thrown);
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

  writeError(error: GatewayError): readonly Frame[] | undefined {
    return this.fan.writeError(error);
  }

  readOn(ending: StreamEnding): boolean {
    if (!this.#first.readOn(ending)) return false;
    this.leave();
    this.over(() => {});
    return true;
  }
}

/** A client that repeats the request. */
export class RepeatReader extends Reader {
  /** Only the failure of the answer itself changes the state of its writer, which other clients share. */
  writeError(error: GatewayError): readonly Frame[] | undefined {
    return this.fan.hasFailed ? this.fan.writeError(error) : undefined;
  }
}
