/** Bodies of requests and answers that pass through, piece by piece. */
import { invalidRequest } from "../../../core/error.ts";
import { bodyTooLarge } from "../shapes/errors.ts";

/** @param most bytes @throws GatewayError 413 before anything is read where the client says how much comes */
export async function* bodyOf(request: Request, most: number): AsyncGenerator<Uint8Array, void> {
  if (Number(request.headers.get("content-length") ?? 0) > most) throw bodyTooLarge(most);
  if (!request.body) throw invalidRequest("The request has no body.");
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.length;
    if (size > most) throw bodyTooLarge(most);
    yield chunk;
  }
}

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
