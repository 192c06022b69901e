/** Vectors as base64 of little-endian 32-bit floats, the form in which most SDKs ask for embeddings. */

/** Every system that weir runs on is little-endian. */
export function toBase64(vector: ArrayLike<number>): string {
  const floats = vector instanceof Float32Array ? vector : Float32Array.from(vector);
  return Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength).toString("base64");
}

/** `undefined` if the bytes are not whole floats. */
export function fromBase64(text: string): Float32Array | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length % Float32Array.BYTES_PER_ELEMENT !== 0) return undefined;
  // A copy, because the bytes of a Buffer may begin at any address.
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}
