/**
 * How many tokens a request or a text is, where no provider counts it. An estimate: the pieces of text that a tokenizer
 * would see are counted by kind and weighed. The weights are a least-squares fit over counts vendors published with their
 * answers (2026-11).
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

/** Vendors price an image by its pixels; its bytes are not decoded for an estimate. */
const IMAGE_TOKENS = 1500;
/** A page of a PDF is read as text and as a picture; about this many bytes of base64 a token. */
const DOCUMENT_BYTES_PER_TOKEN = 20;

type Counts = Record<keyof Weights, number>;

/** The pieces of a request by kind, and the tokens of what is no text. */
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

/** Kinds of the ASCII characters; 0 for those that are in no piece. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return LETTER;
  if (/[0-9]/.test(character)) return DIGIT;
  if (/[!-/:-@[-`{-~]/.test(character)) return PUNCTUATION;
  return character === "\n" ? LINE_BREAK : 0;
});

/** One pass over the characters, because a prompt may be megabytes long. */
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

/** Tokens of a request's input, at least 1. */
export function estimateTokens(request: ChatRequest): number {
  const { counts, media } = countPieces(request);
  return Math.max(1, Math.round(weigh(counts) + media));
}

function weigh(counts: Counts): number {
  const kinds = Object.keys(counts) as (keyof Weights)[];
  return kinds.reduce((sum, kind) => sum + counts[kind] * WEIGHTS[kind], 0);
}

/** Counts the tokens of a text that arrives in pieces. */
export class TextEstimate {
  readonly #counts = noPieces();

  add(piece: string): void {
    countText(piece, this.#counts);
  }

  /** Of all pieces so far. */
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
