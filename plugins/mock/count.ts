/** Counts the tokens of a prompt, and which of them a prompt cache would contain. */
import type { Block, CacheMark, ChatRequest, Usage } from "weir";
import { countTokens } from "./tokens.ts";

/** Fixed costs, in tokens. */
const COST = { turn: 4, tool: 12, image: 1000, document: 2000, audio: 500 };

/** Minimum length of a cached prefix in tokens, as vendors have one. */
const MIN_CACHED = 1024;

interface Part {
  tokens: number;
  /** The part has a cache mark. */
  marked: boolean;
  /** It was part of an earlier request of this conversation. */
  earlier: boolean;
}

/**
 * Counts the input. With cache marks, the prefix up to the last mark is cached: parts before the last answer were in an
 * earlier request and count as read, the rest as written. The mock keeps no state, so equal requests count the same.
 */
export function countInput(request: ChatRequest): Usage {
  const parts = listParts(request);
  const marked = request.cache ? parts.length : parts.findLastIndex((part) => part.marked) + 1;
  const prefix = parts.slice(0, marked).reduce((sum, part) => sum + part.tokens, 0);
  const cached = prefix < MIN_CACHED ? 0 : marked;
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
    tokens: COST.tool + countTokens(JSON.stringify(tool)),
    marked: tool.cache !== undefined,
    earlier: lastAnswer >= 0,
  }));
  turns.forEach((turn, index) => {
    const earlier = index < lastAnswer;
    parts.push({ tokens: COST.turn, marked: false, earlier });
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
      return COST.tool + countTokens(block.name) + countTokens(block.input);
    case "tool-result":
      return COST.tool + countBlocks(block.blocks);
    case "document":
      return countDocument(block);
    case "image":
    case "audio":
      return COST[block.type];
    case "foreign":
      return countTokens(JSON.stringify(block.value));
  }
}

function countDocument({ source }: Extract<Block, { type: "document" }>): number {
  if (source.type === "text") return countTokens(source.text);
  if (source.type === "blocks") return countBlocks(source.blocks);
  return COST.document;
}

function countBlocks(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + countBlock(block), 0);
}
