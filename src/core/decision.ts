/** The canonical decision request and its answer: probabilities of what a question permits, instead of a text. */
import type { Json, JsonObject } from "./json.ts";
import type { KindAnswer, KindRequest } from "./kind.ts";

export interface DecisionRequest extends KindRequest {
  /** What is judged: a text, or items of a conversation, as the client wrote them. */
  input: Json;
  /** At least one. */
  questions: readonly Question[];
}

export type Question = { name?: string; instructions: Json } & (
  | { type: "predicate" }
  | { type: "choice"; choices: readonly (string | boolean)[] }
  | { type: "score"; levels: readonly string[] }
);

export interface DecisionAnswer extends KindAnswer {
  /** One for each question, in their order. */
  answers: readonly DecisionResult[];
}

export type DecisionResult = { name: string | null } & (
  | { type: "predicate"; probability: number }
  | { type: "choice"; choice: string | boolean; confidence: number; probabilities: readonly JsonObject[] }
  | { type: "score"; score: number; confidence: number; probabilities: readonly JsonObject[] }
  | { type: "refusal" }
);
