/** Patterns of vendors' credentials. Each alternative matches the whole token. */
const CREDENTIALS: readonly RegExp[] = [
  /\b(?:Bearer|Basic)\s+[\w.~+/=*-]{6,}/gi,
  /\b(?:sk|pk|rk|gsk|csk|xai|pplx|hf|fw|r8|key|api[-_]?key)[-_][\w*.-]{4,}/gi,
  /\bA[KS]IA[0-9A-Z]{12,}\b|\bAIza[\w-]{12,}|\beyJ[\w-]{10,}\.[\w.-]+/g,
];

/** The text with everything that looks like a credential replaced by `[credential]`. */
export function withoutKeys(text: string): string {
  return CREDENTIALS.reduce((left, pattern) => left.replace(pattern, "[credential]"), text);
}

/** A thrown value as text for the log, with its stack if it has one. Any value can be thrown. */
export function describeThrown(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? String(thrown.stack ?? thrown.message) : String(thrown);
    return withoutKeys(text);
  } catch {
    return "a thrown value that cannot be converted to text";
  }
}
