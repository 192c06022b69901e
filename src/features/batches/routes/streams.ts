/** Answers that pass through, piece by piece. */

/** Texts of a piece of an answer. Characters. */
const PIECE = 65_536;

/** The reader pulls: nothing is read ahead of a slow client. A fault cuts the answer. */
export function streamOf(texts: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      let piece = "";
      while (piece.length < PIECE) {
        const { value, done } = await texts.next();
        if (done === true) {
          if (piece !== "") controller.enqueue(encoder.encode(piece));
          return controller.close();
        }
        piece += value;
      }
      controller.enqueue(encoder.encode(piece));
    },
    async cancel() {
      await texts.return();
    },
  });
}
