/** The bytes of a file, as they are read. */
export function bytesOf(file: string): AsyncIterable<Uint8Array> {
  return Bun.file(file).stream();
}
