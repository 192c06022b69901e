/** The mock's tokenizer: a token is up to four visible characters with the space in front of them. */
const PIECE = /\s{0,4}\S{1,4}|\s{1,4}/gu;

/** Most tokens of an answer, as models have such a limit. */
export const MOST_TOKENS = 128_000;
/** No piece is longer, in code units. */
const LONGEST_PIECE = 12;

/** Cuts a text into tokens; joined they are the text again, up to one token more than an answer can have. */
export function splitTokens(text: string): string[] {
  const pieces = text.slice(0, (MOST_TOKENS + 1) * LONGEST_PIECE).match(PIECE) ?? [];
  return pieces.slice(0, MOST_TOKENS + 1);
}

/** How many tokens a text of a prompt is taken for: four characters each. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
