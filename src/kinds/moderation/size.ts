/** What a moderation request may use at most. */
import type { RequestSize } from "../../core/ledger.ts";
import type { ModerationRequest } from "../../core/moderation.ts";
import { IMAGE_TOKENS } from "../../core/tokens/image-tokens.ts";
import { MostTokens } from "../../core/tokens/most-tokens.ts";

export function sizeOfInputs({ inputs }: ModerationRequest): RequestSize {
  const text = new MostTokens();
  let images = 0;
  for (const { texts, images: own } of inputs) {
    images += own.length;
    for (const one of texts) {
      text.next();
      text.add(one);
    }
  }
  return {
    ...{ text, structure: inputs.length * 4, mediaTokens: images * IMAGE_TOKENS },
    ...{ hasTools: false, hasServerTools: false, maxTokens: 0, choices: 1 },
  };
}
