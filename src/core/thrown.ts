/** How vendors' keys begin; what follows is the secret. */
const KEY_SHAPES = /\b(sk-|sk_|gsk_|csk-|xai-|AIza|hf_|fw_|r8_|Bearer\s+)[\w-]{12,}/g;

/** The text with what looks like a vendor's key masked. */
export function withoutKeys(text: string): string {
  return text.replace(KEY_SHAPES, "$1***");
}

/** What was thrown, with its stack where it has one, as a text for the log. Anything can be thrown. */
export function describeThrown(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? String(thrown.stack ?? thrown.message) : String(thrown);
    return withoutKeys(text);
  } catch {
    return "something that cannot be written";
  }
}
