/** A range of a body, in bytes. */

export interface Span {
  start: number;
  /** Exclusive. */
  end: number;
}

/** The range without white space at both ends. */
export function trimmed(bytes: Uint8Array, start: number, end: number): Span {
  while (start < end && isSpace(bytes[start]!)) start++;
  while (end > start && isSpace(bytes[end - 1]!)) end--;
  return { start, end };
}

/** Whether a byte is JSON white space (RFC 8259, section 2). */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
