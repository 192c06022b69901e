/** The two ways to read: with a promise, and with a receiver. */
import type { ByteReader, Piece, Receiver } from "./types.ts";

/** Reads the next piece of any reader into a receiver. */
export function takeFrom(reader: ByteReader, receiver: Receiver): void {
  if (reader.take) return reader.take(receiver);
  reader.read().then(
    ({ done, value }) => (done || !value ? receiver.end() : receiver.piece(value)),
    (reason: unknown) => receiver.fail(reason),
  );
}

/** The next piece of a source that has only receivers. */
export function nextPiece(source: { take(receiver: Receiver): void }): Promise<Piece> {
  return new Promise((resolve, reject) => {
    source.take({
      piece: (value) => resolve({ done: false, value }),
      end: () => resolve({ done: true }),
      fail: reject,
    });
  });
}
