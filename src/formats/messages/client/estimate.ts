/** A first guess at the prompt's size, for the head of a stream: the true count comes with its end (contract E.6). */
import type { Block, ChatRequest } from "../../../core/chat.ts";

const CHARACTERS_PER_TOKEN = 4;
/** What vendors count for an image or a page, roughly. */
const TOKENS_PER_MEDIUM = 1500;

/** Tokens, at least 1. */
export function estimateInputTokens(request: ChatRequest | undefined): number {
  if (!request) return 1;
  let tokens = request.tools.length > 0 ? JSON.stringify(request.tools).length / CHARACTERS_PER_TOKEN : 0;
  for (const turn of request.turns) for (const block of turn.blocks) tokens += blockTokens(block);
  return Math.max(1, Math.ceil(tokens));
}

function blockTokens(block: Block): number {
  switch (block.type) {
    case "text":
    case "refusal":
    case "reasoning":
      return block.text.length / CHARACTERS_PER_TOKEN;
    case "tool-call":
      return (block.name.length + block.input.length) / CHARACTERS_PER_TOKEN;
    case "tool-result":
      return block.blocks.reduce((sum, inner) => sum + blockTokens(inner), 0);
    case "document":
      return block.source.type === "text"
        ? block.source.text.length / CHARACTERS_PER_TOKEN
        : TOKENS_PER_MEDIUM;
    case "image":
    case "audio":
      return TOKENS_PER_MEDIUM;
    case "foreign":
      return (block.text?.length ?? 0) / CHARACTERS_PER_TOKEN;
  }
}
