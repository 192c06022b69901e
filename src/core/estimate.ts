/**
 * Estimates the tokens of a request or a text when no provider counts them. The text is split into pieces as a tokenizer
 * would see them, and each kind of piece has a weight. The weights are a least-squares fit to token counts that vendors
 * published with their answers (2026-11).
 */
import type { Block, ChatRequest } from "./chat.ts";

/** Tokens for one piece of each kind. */
interface Weights {
  word: number;
  /** Per character of a word beyond its sixth. */
  longWord: number;
  digit: number;
  punctuation: number;
  lineBreak: number;
  /** A non-ASCII letter. */
  foreignLetter: number;
  /** A character of a script without spaces between words. */
  ideograph: number;
  turn: number;
  /** Once per request with tools: the vendor's own instructions. */
  tools: number;
  tool: number;
  /** A tool call or a tool result in the history. */
  toolUse: number;
  /** Once per request with a reasoning budget. */
  reasoning: number;
  /** Once per request that forces a tool call. */
  forced: number;
  /** Once per request with a JSON schema for the answer. */
  schema: number;
  base: number;
}

const WEIGHTS: Weights = {
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

/** Tokens of an image. Vendors charge by pixels, but an estimate does not decode the image. */
const IMAGE_TOKENS = 1500;
/** Bytes of base64 per token of a PDF, which vendors read as text and as pictures. */
const DOCUMENT_BYTES_PER_TOKEN = 20;

type Counts = Record<keyof Weights, number>;

/** The pieces of a request by kind, and the tokens of its media. */
function countPieces(request: ChatRequest): { counts: Counts; media: number } {
  const counts: Counts = {
    ...noPieces(),
    turn: request.turns.length,
    tools: Math.min(1, request.tools.length),
    tool: request.tools.length,
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

const LETTER = 1;
const DIGIT = 2;
const PUNCTUATION = 3;
const LINE_BREAK = 4;

/** Kind of each ASCII character; 0 for characters that belong to no piece. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return LETTER;
  if (/[0-9]/.test(character)) return DIGIT;
  if (/[!-/:-@[-`{-~]/.test(character)) return PUNCTUATION;
  return character === "\n" ? LINE_BREAK : 0;
});

/** Counts in a single pass, because a prompt may have megabytes. */
function countText(value: string, counts: Counts): void {
  let letters = 0;
  let before = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    const kind = code < 128 ? KINDS[code]! : 0;
    if (kind === LETTER) {
      if (++letters === 1) counts.word++;
      else if (letters > 6) counts.longWord++;
    } else {
      letters = 0;
      if (kind === DIGIT) counts.digit++;
      else if (kind === PUNCTUATION) counts.punctuation++;
      else if (kind === LINE_BREAK && before !== LINE_BREAK) counts.lineBreak++;
      else if (code >= 0x3000) counts.ideograph++;
      else if (code >= 0xc0) counts.foreignLetter++;
    }
    before = kind;
  }
}

/** Estimated tokens of a request's input, at least 1. */
export function estimateTokens(request: ChatRequest): number {
  const { counts, media } = countPieces(request);
  return Math.max(1, Math.round(weigh(counts) + media));
}

function weigh(counts: Counts): number {
  const kinds = Object.keys(counts) as (keyof Weights)[];
  return kinds.reduce((sum, kind) => sum + counts[kind] * WEIGHTS[kind], 0);
}

/** Estimates the tokens of a text that arrives in pieces. */
export class TextEstimate {
  readonly #counts = noPieces();

  add(piece: string): void {
    countText(piece, this.#counts);
  }

  /** Estimated tokens of all pieces so far. */
  get tokens(): number {
    return Math.round(weigh(this.#counts));
  }
}

function noPieces(): Counts {
  return {
    word: 0,
    longWord: 0,
    digit: 0,
    punctuation: 0,
    lineBreak: 0,
    foreignLetter: 0,
    ideograph: 0,
    turn: 0,
    tools: 0,
    tool: 0,
    toolUse: 0,
    reasoning: 0,
    forced: 0,
    schema: 0,
    base: 0,
  };
}
