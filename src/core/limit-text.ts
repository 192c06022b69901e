/** The text, or as much of its beginning as fits into so many bytes of UTF-8, with an ellipsis behind it. */
export function limitText(text: string, bytes: number): string {
  // No character has more than three bytes for each unit of its length.
  if (text.length * 3 <= bytes) return text;
  if (text.length <= bytes && Buffer.byteLength(text) <= bytes) return text;
  const room = bytes - ELLIPSIS_BYTES;
  // The decoder writes a character that was cut in two as U+FFFD.
  return `${Buffer.from(text.slice(0, room))
    .toString("utf8", 0, room)
    .replace(/\ufffd+$/, "")}…`;
}

const ELLIPSIS_BYTES = 3;
