/** Decisions: how likely an answer to a question is, of those that the question permits. OpenAI's alone has such an endpoint. */
import { isObject } from "../../core/json.ts";
import { KindFault, type ModelKind } from "../../core/model-kind.ts";
import type { DecisionAnswer, DecisionRequest } from "../../core/decision.ts";
import { decisions } from "./dialect.ts";
import { decisionRoute } from "./route.ts";
import { sizeOf } from "./size.ts";

function complete(answer: DecisionAnswer, { questions }: DecisionRequest): DecisionAnswer {
  // A program of a plugin may give anything.
  if (!Array.isArray(answer.answers) || !answer.answers.every(isObject))
    throw new KindFault("sent no list of answers");
  if (answer.answers.length !== questions.length)
    throw new KindFault(`sent ${answer.answers.length} answers to ${questions.length} questions`);
  return answer;
}

export const decision: ModelKind<DecisionRequest, DecisionAnswer> = {
  id: "decision",
  lacks: "decides nothing",
  mock: "decision",
  gives: [],
  routes: [decisionRoute],
  dialects: [decisions],
  sizeOf,
  complete,
};
