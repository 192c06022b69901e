/** Inputs that arrive in chunks. */

/** @param sizes of the chunks, again and again */
export async function* chunksOf(
  input: string | Uint8Array,
  ...sizes: number[]
): AsyncGenerator<Uint8Array, void> {
  const bytes = typeof input === "string" ? Buffer.from(input) : input;
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = at + (sizes[turn % sizes.length] ?? bytes.length);
    yield bytes.slice(at, end);
    at = end;
  }
}

/** The same bytes again and again, with little memory. */
export async function* repeated(
  count: number,
  make: (index: number) => Uint8Array,
): AsyncGenerator<Uint8Array, void> {
  for (let index = 0; index < count; index++) yield make(index);
}
