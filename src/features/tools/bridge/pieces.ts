/** The pieces of one answer, as their reader takes them. */
import { LastPiece } from "../../../core/lines.ts";
import type { Piece } from "../asks.ts";

/** Most characters that wait for a reader; more end the stream. */
const MOST_WAITING = 16 * 1024 * 1024;

export class Pieces {
  readonly #waiting: Piece[] = [];
  #size = 0;
  #isOver = false;
  #wake: (() => void) | undefined;
  /** The reader has gone, or the stream is full. */
  isLeft = false;

  push(piece: Piece): void {
    if (this.#isOver || this.isLeft) return;
    this.#size += "events" in piece ? piece.events.length : 0;
    if (this.#size > MOST_WAITING) {
      this.isLeft = true;
      return this.end();
    }
    this.#waiting.push(piece);
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
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
    return { events, ...(outcome && { outcome }) };
  }
}
