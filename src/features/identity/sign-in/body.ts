/** Reads forms that clients send. */

/** @returns undefined if it is larger than `most` bytes, which are then not read to the end */
export async function formIn(request: Request, most: number): Promise<URLSearchParams | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body ?? []) {
    bytes += piece.length;
    if (bytes > most) return undefined;
    pieces.push(piece);
  }
  return new URLSearchParams(Buffer.concat(pieces).toString("utf8"));
}
