/** Controls (C0, DEL, C1), invisible and bidirectional format characters, line and paragraph separators, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * The text on one line, without a character that a terminal or a log viewer acts on: each becomes its JSON escape
 * (`\u001b`). A JSON text stays the same JSON value.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeUnits);
}

/** An escape for each UTF-16 code unit, as JSON has it. */
function escapeUnits(character: string): string {
  let escaped = "";
  for (let at = 0; at < character.length; at++)
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return escaped;
}
