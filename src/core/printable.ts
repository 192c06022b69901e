/** Control characters (C0, DEL, C1), invisible and bidirectional formatting characters, line separators, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Replaces line breaks and all characters that a terminal or log viewer interprets by their JSON escapes (`\u001b`). JSON
 * text keeps its value.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeUnits);
}

/** One JSON escape per UTF-16 code unit. */
function escapeUnits(character: string): string {
  let escaped = "";
  for (let at = 0; at < character.length; at++)
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return escaped;
}
