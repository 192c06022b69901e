/**
 * How many input tokens a request would cost, where the provider has no endpoint that counts. An estimate: the pieces of
 * text a tokenizer would see are counted by kind and weighed. The weights are a least-squares fit over counts vendors
 * published with their answers (2026-11).
 */
import type { Block, ChatRequest } from "../core/chat.ts";

/** Tokens for one piece of each kind. */
export interface Weights {
  word: number;
  /** Per character of a word beyond its sixth. */
  longWord: number;
  digit: number;
  punctuation: number;
  lineBreak: number;
  /** A letter outside of ASCII. */
  foreignLetter: number;
  /** A character of a script written without spaces. */
  ideograph: number;
  turn: number;
  /** Once, when there are tools: the vendor's own instructions. */
  tools: number;
  tool: number;
  /** A call or a result in the history. */
  toolUse: number;
  /** Once, when the request asks for reasoning within a budget. */
  reasoning: number;
  /** Once, when a tool call is demanded. */
  forced: number;
  /** Once, when the answer is bound to a JSON schema. */
  schema: number;
  base: number;
}

export const WEIGHTS: Weights = {
  word: 1.007,
  longWord: 0.02,
  digit: 0.1,
  punctuation: 1.28,
  lineBreak: 0,
  foreignLetter: 0.2,
  ideograph: 2.7,
  turn: 0,
  tools: 493,
  tool: 0,
  toolUse: 24,
  reasoning: 32,
  forced: 85,
  schema: 85,
  base: 7,
};

/** Vendors price an image by its pixels; its bytes are not decoded for an estimate. */
const IMAGE_TOKENS = 1500;
/** A page of a PDF is read as text and as a picture; about this many bytes of base64 a token. */
const DOCUMENT_BYTES_PER_TOKEN = 20;

const PIECES = {
  word: /[A-Za-z]+/g,
  digit: /[0-9]/g,
  punctuation: /[!-\/:-@[-`{-~]/g,
  lineBreak: /\n+/g,
  foreignLetter: /[\u00c0-\u2fff]/g,
  ideograph: /[\u3000-\uffff]/g,
} as const;

export type Counts = Record<keyof Weights, number>;

/** The pieces of a request by kind, and the tokens of what is no text. */
export function countPieces(request: ChatRequest): { counts: Counts; media: number } {
  const counts: Counts = {
    word: 0,
    longWord: 0,
    digit: 0,
    punctuation: 0,
    lineBreak: 0,
    foreignLetter: 0,
    ideograph: 0,
    turn: request.turns.length,
    tools: Math.min(1, request.tools.length),
    tool: request.tools.length,
    toolUse: 0,
    reasoning: Number(request.reasoning?.mode === "budget"),
    forced: Number(request.toolChoice?.type === "required" || request.toolChoice?.type === "tool"),
    schema: Number(request.answerFormat?.type === "json-schema"),
    base: 1,
  };
  let media = 0;
  const text = (value: string) => countText(value, counts);
  const blocks = (list: readonly Block[]) => {
    for (const block of list) media += countBlock(block, text, blocks, counts);
  };
  for (const turn of request.turns) blocks(turn.blocks);
  for (const tool of request.tools) {
    text(tool.name);
    text(tool.description ?? "");
    if (tool.parameters) text(JSON.stringify(tool.parameters));
  }
  if (request.answerFormat?.type === "json-schema") text(JSON.stringify(request.answerFormat.schema));
  return { counts, media };
}

function countBlock(
  block: Block,
  text: (value: string) => void,
  blocks: (list: readonly Block[]) => void,
  counts: Counts,
): number {
  switch (block.type) {
    case "text":
    case "reasoning":
    case "refusal":
      text(block.text);
      return 0;
    case "tool-call":
      counts.toolUse++;
      text(block.name);
      text(block.input);
      return 0;
    case "tool-result":
      counts.toolUse++;
      blocks(block.blocks);
      return 0;
    case "image":
      return IMAGE_TOKENS;
    case "audio":
      return Math.ceil(block.data.length / DOCUMENT_BYTES_PER_TOKEN);
    case "document":
      text(`${block.title ?? ""} ${block.context ?? ""}`);
      if (block.source.type === "text") text(block.source.text);
      if (block.source.type === "blocks") blocks(block.source.blocks);
      return block.source.type === "base64"
        ? Math.ceil(block.source.data.length / DOCUMENT_BYTES_PER_TOKEN)
        : 0;
    case "foreign":
      text(JSON.stringify(block.value));
      return 0;
  }
}

function countText(value: string, counts: Counts): void {
  for (const [kind, pattern] of Object.entries(PIECES) as [keyof typeof PIECES, RegExp][]) {
    const found = value.match(pattern);
    if (!found) continue;
    counts[kind] += found.length;
    if (kind === "word") for (const word of found) counts.longWord += Math.max(0, word.length - 6);
  }
}

/** At least one token. */
export function estimateTokens(request: ChatRequest, weights: Weights = WEIGHTS): number {
  const { counts, media } = countPieces(request);
  const kinds = Object.keys(counts) as (keyof Weights)[];
  const weighed = kinds.reduce((sum, kind) => sum + counts[kind] * weights[kind], 0);
  return Math.max(1, Math.round(weighed + media));
}
