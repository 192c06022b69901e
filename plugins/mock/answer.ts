/** Plans the mock's answers: composes the blocks, then applies stop sequences and the output limit. */
import type { BlockStart, ChatRequest, FinishReason } from "weir";
import { chooseCalls } from "./calls.ts";
import { lastUserTexts, listHistory, refusesReasoning, wantsReasoning } from "./request.ts";
import { makeSignature } from "./seed.ts";
import { MAX_TOKENS, splitTokens } from "./tokens.ts";
import { writeAnswer, writeLong, writeReasoning } from "./words.ts";

/** A block of a planned answer. */
export interface PlannedBlock {
  start: BlockStart;
  /** Its text, split into tokens. */
  pieces: string[];
  signature?: string;
}

/** A complete answer within the limits of the request. */
export interface Plan {
  blocks: PlannedBlock[];
  reason: FinishReason;
}

/** Kinds of answers. */
export type Recipe = "chat" | "echo" | "recall" | "reason" | "tools" | "long" | "empty" | "filtered";

type Composer = (request: ChatRequest, seed: string, length: number) => PlannedBlock[];

const COMPOSERS: Record<Recipe, Composer> = {
  chat: (request, seed) => [
    ...(wantsReasoning(request) ? reasoningBlocks(request, seed) : []),
    ...answerBlocks(request, seed, false),
  ],
  reason: (request, seed) => [
    ...(refusesReasoning(request.reasoning) ? [] : reasoningBlocks(request, seed)),
    ...answerBlocks(request, seed, false),
  ],
  tools: (request, seed) => answerBlocks(request, seed, true),
  echo: (request) => textBlocks(splitTokens(lastUserTexts(request).join("\n"))),
  recall: (request) => textBlocks(splitTokens(listHistory(request))),
  long: (_request, _seed, length) => textBlocks(writeLong(length)),
  empty: () => [],
  filtered: (request, seed) => {
    const pieces = splitTokens(writeAnswer(request, seed));
    return textBlocks(pieces.slice(0, Math.ceil(pieces.length / 2)));
  },
};

/** Plans an answer; equal requests get equal plans. @param length in tokens, for the recipe `long` */
export function planAnswer(request: ChatRequest, seed: string, recipe: Recipe, length: number): Plan {
  const blocks = COMPOSERS[recipe](request, seed, length);
  const calls = blocks.some((block) => block.start.type === "tool-call");
  const ending = recipe === "filtered" ? "content-filter" : calls ? "tool-calls" : "stop";
  const plan: Plan = { blocks, reason: { kind: ending } };
  return cutAtLimit(cutAtStop(plan, request.stop), Math.min(request.maxTokens ?? MAX_TOKENS, MAX_TOKENS));
}

function answerBlocks(request: ChatRequest, seed: string, everyTool: boolean): PlannedBlock[] {
  const calls = chooseCalls(request, seed, everyTool).map(({ input, ...call }): PlannedBlock => ({
    start: { type: "tool-call", ...call },
    pieces: splitTokens(input),
  }));
  return calls.length > 0 ? calls : textBlocks(splitTokens(writeAnswer(request, seed)));
}

function textBlocks(pieces: string[]): PlannedBlock[] {
  return pieces.length === 0 ? [] : [{ start: { type: "text" }, pieces }];
}

function reasoningBlocks(request: ChatRequest, seed: string): PlannedBlock[] {
  const pieces = splitTokens(writeReasoning(request)).slice(0, request.reasoning?.budget);
  const start = { type: "reasoning", origin: "mock" } as const;
  return [{ start, pieces, signature: makeSignature(seed, "reasoning") }];
}

/** Ends the answer before the first stop sequence in its text. */
function cutAtStop(plan: Plan, stops: readonly string[]): Plan {
  const index = plan.blocks.findIndex((block) => block.start.type === "text");
  const block = plan.blocks[index];
  const text = block?.pieces.join("") ?? "";
  const [first] = stops
    .filter((stop) => stop !== "" && text.includes(stop))
    .sort((a, b) => text.indexOf(a) - text.indexOf(b));
  if (!block || first === undefined) return plan;
  const pieces = splitTokens(text.slice(0, text.indexOf(first)));
  return {
    blocks: [...plan.blocks.slice(0, index), ...textBlocks(pieces)],
    reason: { kind: "stop-sequence", stopSequence: first },
  };
}

/** Ends the answer after `limit` tokens; reasoning that was cut off is not signed. */
function cutAtLimit({ blocks, reason }: Plan, limit: number): Plan {
  const kept: PlannedBlock[] = [];
  let left = limit;
  for (const block of blocks) {
    if (block.pieces.length > left) {
      if (left > 0) kept.push({ start: block.start, pieces: block.pieces.slice(0, left) });
      return { blocks: kept, reason: { kind: "length" } };
    }
    kept.push(block);
    left -= block.pieces.length;
  }
  return { blocks: kept, reason };
}
