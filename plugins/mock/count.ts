/** Counts the tokens of a prompt, and says which of them a prompt cache would hold. */
import type { Block, CacheMark, ChatRequest, Usage } from "weir";
import { countTokens } from "./tokens.ts";

/** Fixed prices, in tokens. */
const PRICE = { turn: 4, tool: 12, image: 1000, document: 2000, audio: 500 };

/** A shorter beginning of a prompt is not cached, as with the vendors. Tokens. */
const LEAST_CACHED = 1024;

interface Part {
  tokens: number;
  /** A cache may cut behind this part. */
  marked: boolean;
  /** It was part of an earlier request of this conversation. */
  earlier: boolean;
}

/**
 * The input side of the usage. With cache marks, everything up to the last mark is cached: what stood in front of the
 * last answer was sent before and counts as read, the rest as written. No memory is involved, so a request always
 * counts the same.
 */
export function countInput(request: ChatRequest): Usage {
  const parts = listParts(request);
  const marked = request.cache ? parts.length : parts.findLastIndex((part) => part.marked) + 1;
  const beginning = parts.slice(0, marked).reduce((sum, part) => sum + part.tokens, 0);
  const cached = beginning < LEAST_CACHED ? 0 : marked;
  const usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  parts.forEach(({ tokens, earlier }, index) => {
    if (index >= cached) usage.input += tokens;
    else if (earlier) usage.cacheRead += tokens;
    else usage.cacheWrite += tokens;
  });
  return usage;
}

function listParts({ tools, turns }: ChatRequest): Part[] {
  const lastAnswer = turns.findLastIndex((turn) => turn.role === "assistant");
  const parts: Part[] = tools.map((tool) => ({
    tokens: PRICE.tool + countTokens(JSON.stringify(tool)),
    marked: tool.cache !== undefined,
    earlier: lastAnswer >= 0,
  }));
  turns.forEach((turn, index) => {
    const earlier = index < lastAnswer;
    parts.push({ tokens: PRICE.turn, marked: false, earlier });
    for (const block of turn.blocks)
      parts.push({ tokens: countBlock(block), marked: isMarked(block), earlier });
  });
  return parts;
}

function isMarked(block: Block & { cache?: CacheMark }): boolean {
  return block.cache !== undefined;
}

function countBlock(block: Block): number {
  switch (block.type) {
    case "text":
    case "refusal":
    case "reasoning":
      return countTokens(block.text);
    case "tool-call":
      return PRICE.tool + countTokens(block.name) + countTokens(block.input);
    case "tool-result":
      return PRICE.tool + countBlocks(block.blocks);
    case "document":
      return countDocument(block);
    case "image":
    case "audio":
      return PRICE[block.type];
    case "foreign":
      return countTokens(JSON.stringify(block.value));
  }
}

function countDocument({ source }: Extract<Block, { type: "document" }>): number {
  if (source.type === "text") return countTokens(source.text);
  if (source.type === "blocks") return countBlocks(source.blocks);
  return PRICE.document;
}

function countBlocks(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + countBlock(block), 0);
}
