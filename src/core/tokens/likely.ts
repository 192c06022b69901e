/** The tokens that a text likely has, where no provider has counted them. */
import type { RequestSize } from "../request-size.ts";

/** Average share of the most tokens that a text can have. */
export const LIKELY_SHARE = 0.75;

/** The input that a tokenizer would count, where no provider did. Tokens. */
export function inputLikely({ text, mediaTokens }: RequestSize): number {
  const { words, digits, signs, scripts } = text;
  return Math.ceil((words + digits + signs + scripts) * LIKELY_SHARE) + mediaTokens;
}
