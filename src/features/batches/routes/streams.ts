/** Answers that pass through, piece by piece. */

/** Texts of a piece of an answer. Characters. */
const PIECE = 65_536;

/** Texts as UTF-8, in pieces that are worth a write. */
export async function* piecesOf(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield encoder.encode(piece);
    piece = "";
  }
  if (piece !== "") yield encoder.encode(piece);
}

/** The reader pulls: nothing is read ahead of a slow client. A fault cuts the answer. */
export function streamOf(texts: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const pieces = piecesOf(texts);
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return();
    },
  });
}

/** Each text as a line. */
export async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string, void> {
  for await (const text of texts) yield `${text}\n`;
}
