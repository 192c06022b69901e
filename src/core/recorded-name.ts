/** The names of models, as logs, metrics, records, spans and tapes contain them. */

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
