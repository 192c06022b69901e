/** The canonical rerank request and its answer: which of the documents fit a query best. */
import type { Json } from "./json.ts";
import type { KindAnswer, KindRequest } from "./kind.ts";

export interface RerankRequest extends KindRequest {
  query: string;
  /** At least one. */
  documents: readonly RerankDocument[];
  /** Number of results that the client wants. Absent: one for each document. */
  top?: number;
  /** Tokens of a document after which the provider cuts it off. */
  perDocumentTokens?: number;
  /** Whether the provider may cut off what is too long; absent: its default. */
  truncation?: boolean;
  /** The client wants the documents back with their scores. */
  wantsDocuments: boolean;
  /** Scores before the provider's normalisation (`raw_scores` of text-embeddings-inference). */
  rawScores?: boolean;
  /** The client wants the scores in the order of its documents. Default: best first. */
  inOrder?: true;
  /** Several queries, each for the document at its place; `query` is the first one. */
  pairs?: readonly string[];
  /** JSON path of a part in the client's request, for losses and errors. */
  pathOf(part: "top" | "perDocumentTokens" | "truncation" | "rawScores" | number): string;
}

export interface RerankDocument {
  /** Absent for an image. */
  text?: string;
  /** URL or data URI. */
  image?: string;
  /** As the client wrote it. */
  given: Json;
  /** `text` was joined from several members (`rank_fields`). */
  isJoined?: true;
}

export interface RerankAnswer extends KindAnswer {
  /** Best first. */
  results: readonly RerankResult[];
}

export interface RerankResult {
  /** Place of the document in the request. */
  index: number;
  score: Score;
  /** The text of the document, where the provider returns it. */
  document?: Json;
}

/** The number as the provider wrote it, which JSON writes unchanged. A program may give a number. */
export type Score = number | RawNumber;

/** What `JSON.rawJSON` makes of the text of a number. */
export interface RawNumber {
  readonly rawJSON: string;
}

export function scoreOf(score: Score): number {
  return typeof score === "number" ? score : Number(score.rawJSON);
}
