/**
 * Lets several clients read one streamed answer from its beginning. weir reads the provider as fast as the fastest of them. An
 * answer that outgrows the recording passes on in lockstep, so that no more than its last piece waits for the slowest.
 */
import type { GatewayError } from "../../core/error.ts";
import type { Frame } from "../../core/frame.ts";
import type { ByteSource } from "../../gateway/delivery/stream.ts";
import type { Receiver } from "../../gateway/lanes/transport.ts";
import type { Recording } from "./memory.ts";

export interface FanOutEvents {
  /** The answer outgrew its recording: no client can begin to read it any more. */
  overflowed(): void;
  ended(): void;
  failed(thrown: unknown): void;
}

/** One client's place in the answer. */
export interface ReaderPosition {
  /** How many bytes it has got. */
  at: number;
  /** Waits for the next piece. */
  receiver?: Receiver | undefined;
}

interface Outcome {
  failure?: { thrown: unknown };
}

export class FanOut implements Receiver {
  readonly source: ByteSource;
  readonly #recording: Recording;
  readonly #events: FanOutEvents;
  readonly #places = new Set<ReaderPosition>();
  /** How many bytes the source has given. */
  #length = 0;
  /** The last piece of an answer that outgrew its recording. */
  #beyond: Uint8Array | undefined;
  #isDraining = false;
  /** A piece of the source is on its way. */
  #isPulling = false;
  /** `take` of the source has not returned. */
  #isTaking = false;
  #outcome: Outcome | undefined;
  #errorFrames: readonly Frame[] | undefined;
  /** When the last piece came; monotonic milliseconds. */
  receivedAt = performance.now();

  constructor(source: ByteSource, recording: Recording, events: FanOutEvents) {
    this.source = source;
    this.#recording = recording;
    this.#events = events;
  }

  /** The number of clients that read. */
  get readers(): number {
    return this.#places.size;
  }

  get isEnded(): boolean {
    return this.#outcome !== undefined;
  }

  /** Why the answer has no end. */
  get failure(): { thrown: unknown } | undefined {
    return this.#outcome?.failure;
  }

  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /** The error event of the answer: the same for all clients. */
  writeError(error: GatewayError): readonly Frame[] | undefined {
    return (this.#errorFrames ??= this.source.writeError?.(error));
  }

  enter(): ReaderPosition {
    const place: ReaderPosition = { at: 0 };
    this.#places.add(place);
    return place;
  }

  leave(place: ReaderPosition): void {
    place.receiver = undefined;
    if (!this.#places.delete(place)) return;
    this.#trim();
    this.#pull();
  }

  take(place: ReaderPosition, receiver: Receiver): void {
    if (place.at < this.#length) {
      const recorded = place.at < this.#recording.length;
      const bytes = recorded ? this.#recording.from(place.at) : this.#beyond!;
      place.at += bytes.length;
      this.#trim();
      return receiver.piece(bytes);
    }
    if (this.#outcome) return this.#tell(receiver);
    place.receiver = receiver;
    this.#pull();
  }

  /** Reads on to the end of the answer although no client reads it. */
  drain(): void {
    this.#isDraining = true;
    this.#pull();
  }

  piece(bytes: Uint8Array): void {
    this.#isPulling = false;
    if (this.#outcome) return;
    this.receivedAt = performance.now();
    const isFirstBeyond = !this.#beyond && !this.#recording.add(bytes);
    if (this.#beyond || isFirstBeyond) this.#beyond = bytes;
    this.#length += bytes.length;
    if (isFirstBeyond) this.#events.overflowed();
    for (const place of this.#places) {
      const { receiver } = place;
      if (!receiver) continue;
      place.receiver = undefined;
      place.at = this.#length;
      receiver.piece(bytes);
    }
    this.#trim();
    this.#pull();
  }

  end(): void {
    this.#settle({}, () => this.#events.ended());
  }

  fail(thrown: unknown): void {
    this.#settle({ failure: { thrown } }, () => this.#events.failed(thrown));
  }

  #settle(outcome: Outcome, tell: () => void): void {
    this.#isPulling = false;
    if (this.#outcome) return;
    this.#outcome = outcome;
    tell();
    for (const place of this.#places) {
      const { receiver } = place;
      place.receiver = undefined;
      if (receiver) this.#tell(receiver);
    }
  }

  #tell(receiver: Receiver): void {
    const { failure } = this.#outcome!;
    if (failure) receiver.fail(failure.thrown);
    else receiver.end();
  }

  /** Sources may give a piece before `take` returns: a loop, because recursion would exhaust the stack. */
  #pull(): void {
    if (this.#isTaking) return;
    this.#isTaking = true;
    while (!this.#isPulling && !this.#outcome && this.#isWanted()) {
      this.#isPulling = true;
      this.source.take(this);
    }
    this.#isTaking = false;
  }

  /** Frees the recording of an answer that outgrew it, when all clients have read it. */
  #trim(): void {
    if (!this.#beyond) return;
    for (const { at } of this.#places) if (at < this.#recording.length) return;
    this.#recording.free();
  }

  #isWanted(): boolean {
    const { size } = this.#places;
    if (size === 0) return this.#isDraining && !this.#beyond;
    let waiting = 0;
    for (const { receiver } of this.#places) if (receiver) waiting++;
    return this.#beyond ? waiting === size : waiting > 0;
  }
}
