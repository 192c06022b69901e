/** Cuts a text to at most `bytes` bytes of UTF-8, with an ellipsis at the cut. */
export function limitText(text: string, bytes: number): string {
  // A UTF-16 code unit has at most three bytes in UTF-8.
  if (text.length * 3 <= bytes) return text;
  if (text.length <= bytes && Buffer.byteLength(text) <= bytes) return text;
  const room = bytes - ELLIPSIS_BYTES;
  // The decoder replaces a character that the cut divided by U+FFFD.
  return `${Buffer.from(text.slice(0, room))
    .toString("utf8", 0, room)
    .replace(/\ufffd+$/, "")}…`;
}

const ELLIPSIS_BYTES = 3;
