/** Texts from outside, as logs, errors and records contain them: printable, short and without credentials. */

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

const ELLIPSIS_BYTES = 3;

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

/**
 * Credentials of vendors, of code hosts and of weir, at the beginning of a part of a name. Names of models begin in the same
 * way (`pplx-70b-online`), so a prefix that they use requires the one long word of a credential.
 */
const CREDENTIAL =
  /(?<![\w-])(?:sk-[\w-]{8,}|weir_(?:sk|ad|ro)_[\w-]{8,}|(?:pk|rk)[-_][\w-]{16,}|(?:gsk|csk|xai|pplx|hf|fw|r8|gh[opsu]|glpat|npm)[-_][A-Za-z0-9]{16,}|github_pat_\w{16,}|A[KS]IA[0-9A-Z]{12,}|AIza[\w-]{12,}|eyJ[\w-]{10,}\.[\w.-]+|(?:Bearer|Basic)\s+[\w.~+/=-]{6,})/g;

/**
 * A name that a client gave, or a text that quotes it, with each credential replaced by `[credential]`. Clients put a key in
 * the place of the model by mistake. Routing uses the name as it was given.
 */
export function recordedName(text: string): string {
  return text.replace(CREDENTIAL, "[credential]");
}
