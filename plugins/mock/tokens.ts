/** The mock's tokenizer: a token is up to four visible characters with the space before them. */
const PIECE = /\s{0,4}\S{1,4}|\s{1,4}/gu;

/** Output limit in tokens. */
export const MAX_TOKENS = 128_000;
/** Maximum length of a token, in UTF-16 units. */
const MAX_TOKEN_LENGTH = 12;

/** Splits a text into tokens, at most one more than the output limit. */
export function splitTokens(text: string): string[] {
  const pieces = text.slice(0, (MAX_TOKENS + 1) * MAX_TOKEN_LENGTH).match(PIECE) ?? [];
  return pieces.slice(0, MAX_TOKENS + 1);
}

/** Estimates the tokens of a prompt: four characters each. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
