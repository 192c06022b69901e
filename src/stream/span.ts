/** A part of a body by its place in the bytes. */

export interface Span {
  start: number;
  /** Exclusive. */
  end: number;
}

/** A part of the text without the spaces around it. */
export function trimmed(bytes: Uint8Array, start: number, end: number): Span {
  while (start < end && isSpace(bytes[start]!)) start++;
  while (end > start && isSpace(bytes[end - 1]!)) end--;
  return { start, end };
}

/** Whether JSON takes the byte for white space (RFC 8259, section 2). */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
