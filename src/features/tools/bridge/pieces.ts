/** The pieces of one answer, as their reader takes them. */
import { LastPiece } from "../../../core/lines.ts";
import type { Piece } from "../asks.ts";
import { CODE, McpError } from "../wire/messages.ts";

/** Most characters that wait for a reader; with more the answer ends with an error. */
const MOST_WAITING = 16 * 1024 * 1024;

/** A server that can wait waits while this many do. */
const ENOUGH_WAITING = 64 * 1024;

export class Pieces {
  readonly #waiting: Piece[] = [];
  #size = 0;
  #isOver = false;
  #wake: (() => void) | undefined;
  #isFull = false;
  #drained: (() => void)[] = [];
  #ended: (() => void)[] = [];
  /** The reader has gone. */
  isLeft = false;
  /** Called when more waits than the reader takes: the work has to end with the error. */
  full: (error: McpError) => void = () => this.leave();

  /** Resolves when the reader has taken most of what waits; undefined: little does. */
  ready(): Promise<void> | undefined {
    if (this.#size < ENOUGH_WAITING || this.#isOver) return undefined;
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** @param ended called when nothing more is read: the work has ended, or the reader has gone */
  whenOver(ended: () => void): void {
    if (this.#isOver) ended();
    else this.#ended.push(ended);
  }

  push(piece: Piece): void {
    if (this.#isOver || this.isLeft) return;
    this.#size += "events" in piece ? piece.events.length : 0;
    if (this.#size > MOST_WAITING && !this.#isFull) {
      this.#isFull = true;
      this.full(new McpError(CODE.invalid, "the server sends more than the client reads"));
    }
    // The error is the last piece.
    if (this.#isFull && !("outcome" in piece)) return;
    this.#waiting.push(piece);
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
    this.#drain();
    for (const ended of this.#ended.splice(0)) ended();
  }

  leave(): void {
    this.isLeft = true;
    this.end();
  }

  /** @param isMarked the last piece is a {@link LastPiece}, as the process sends it */
  async *read(isMarked = false): AsyncGenerator<Piece, void> {
    try {
      for (;;) {
        while (this.#waiting.length > 0) {
          const piece = this.#joined();
          // The reader need not ask once more for an end that is known.
          const isLast = isMarked && this.#isOver && this.#waiting.length === 0;
          yield isLast ? (new LastPiece(piece) as unknown as Piece) : piece;
        }
        if (this.#isOver) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
        this.#wake = undefined;
      }
    } finally {
      this.leave();
    }
  }

  /** Events that wait go as one piece: each piece is a round trip. */
  #joined(): Piece {
    const first = this.#waiting.shift()!;
    if (!("events" in first)) return first;
    let { events, outcome } = first;
    while (this.#waiting[0] && "events" in this.#waiting[0]) {
      const next = this.#waiting.shift() as { events: string; outcome?: typeof outcome };
      events += next.events;
      outcome ??= next.outcome;
    }
    this.#size -= events.length;
    if (this.#size < ENOUGH_WAITING) this.#drain();
    return { events, ...(outcome && { outcome }) };
  }

  #drain(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
