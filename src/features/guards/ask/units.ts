/** Positions in texts, in the units in which services count them. */

export const UNITS = ["utf16", "utf8", "codepoint"] as const;
export type Unit = (typeof UNITS)[number];

/** @returns the position in UTF-16 units; undefined: it is none, or it is within a character */
export function toUtf16(text: string, position: unknown, unit: Unit): number | undefined {
  if (typeof position !== "number" || !Number.isSafeInteger(position) || position < 0) return undefined;
  if (unit === "utf16") return position <= text.length ? position : undefined;
  let count = 0;
  let at = 0;
  for (; at < text.length && count < position;) {
    const code = text.codePointAt(at)!;
    count += unit === "codepoint" ? 1 : bytesOf(code);
    at += code > 0xffff ? 2 : 1;
  }
  return count === position ? at : undefined;
}

/** In UTF-8; a lone surrogate is sent as U+FFFD, which has three. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code > 0xffff ? 4 : 3;
}
