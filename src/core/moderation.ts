/** The canonical moderation request and its answer: which texts and images a vendor's rules forbid. */
import type { KindAnswer, KindRequest } from "./kind.ts";
import type { Score } from "./rerank.ts";

export interface ModerationRequest extends KindRequest {
  /** At least one. Each has a result. */
  inputs: readonly ModerationInput[];
  /** JSON path of an input in the client's request. */
  pathOf(input: number): string;
}

/** What is judged as one. */
export interface ModerationInput {
  texts: readonly string[];
  /** URLs and data URIs. */
  images: readonly string[];
  /** Who says the text, where the client sends conversations. */
  turns?: readonly { role: string; text: string }[];
}

export interface ModerationAnswer extends KindAnswer {
  /** One for each input, in their order. */
  results: readonly ModerationResult[];
}

export interface ModerationResult {
  /** Absent: whether any category is. */
  flagged?: boolean;
  /** `null`: the model does not judge this category. */
  categories: Readonly<Record<string, boolean | null>>;
  scores: Readonly<Record<string, Score>>;
  /** Which of text and image each category was found in. Absent: text alone. */
  applied?: Readonly<Record<string, readonly string[]>>;
}
