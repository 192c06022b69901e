/** The mock's tokenizer: a token is up to four visible characters with the space in front of them. */
const PIECE = /\s{0,4}\S{1,4}|\s{1,4}/gu;

/** Cuts a text into tokens; joined they are the text again. */
export function splitTokens(text: string): string[] {
  return text.match(PIECE) ?? [];
}

/** How many tokens a text of a prompt is taken for: four characters each. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
