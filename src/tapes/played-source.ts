/** The source of a streamed answer from a tape. */
import type { GatewayError } from "../core/error.ts";
import type { BrokenStream } from "../core/format.ts";
import type { Frame } from "../core/frame.ts";
import type { ByteSource } from "../gateway/delivery/stream.ts";
import type { Receiver } from "../gateway/lanes/transport.ts";
import { parseFrames } from "../stream/sse.ts";

export interface PlayedPiece {
  text: string;
  /** When it came, from the beginning of the call. Milliseconds. */
  ms: number;
}

export interface PlayedEnding {
  /** Why the answer has no end. */
  failure?: GatewayError;
  /** The events that say so to the client; absent: weir writes them anew. */
  events?: readonly Frame[];
  /** Text before these events. */
  before?: string;
  /** The error that the pieces contain. */
  passed?: GatewayError;
}

const encoder = new TextEncoder();

export class PlayedSource implements ByteSource {
  readonly #pieces: readonly PlayedPiece[];
  readonly #ending: PlayedEnding;
  readonly #startedAt: number | undefined;
  #next = 0;
  #isFailed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param startedAt begin of the call, if the pieces shall come at their times; monotonic milliseconds */
  constructor(pieces: readonly PlayedPiece[], ending: PlayedEnding, startedAt?: number) {
    this.#pieces = pieces;
    this.#ending = ending;
    this.#startedAt = startedAt;
  }

  async begin(): Promise<void> {}

  get error(): GatewayError | undefined {
    return this.#ending.passed;
  }

  take(receiver: Receiver): void {
    const piece = this.#pieces[this.#next++];
    if (!piece) {
      const { failure } = this.#ending;
      if (!failure) return receiver.end();
      this.#isFailed = true;
      return receiver.fail(failure);
    }
    const give = () => receiver.piece(encoder.encode(piece.text));
    const wait = this.#startedAt === undefined ? 0 : this.#startedAt + piece.ms - performance.now();
    if (wait <= 0) return give();
    this.#timer = setTimeout(give, wait);
  }

  broken(): BrokenStream {
    const piece = this.#pieces[Math.min(this.#next, this.#pieces.length) - 1];
    const last = piece && parseFrames(encoder.encode(piece.text)).at(-1);
    return last ? { last } : {};
  }

  writeError(): readonly Frame[] | undefined {
    return this.#isFailed ? this.#ending.events : undefined;
  }

  beforeError(): string {
    return this.#isFailed ? (this.#ending.before ?? "") : "";
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
