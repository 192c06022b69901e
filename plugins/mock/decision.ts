/** Decides by the words that an instruction or a choice has in common with the input. */
import type { CallView, DecisionAnswer, DecisionRequest, DecisionResult, Question } from "weir";
import { behaveFor } from "./behave.ts";
import { nearness } from "./embed.ts";
import { countTokens } from "./tokens.ts";

/** `mock/decision` decides; the models that fail, fail here, too. */
export async function decision(request: DecisionRequest, call: CallView): Promise<DecisionAnswer> {
  const model = call.target?.model ?? request.model;
  await behaveFor(model, call);
  const input = JSON.stringify(request.input);
  return {
    answers: request.questions.map((question) => decide(question, input)),
    usage: {
      input: countTokens(input) + countTokens(JSON.stringify(request.questions)),
      output: request.questions.length,
    },
    model: `mock/${model}`,
  };
}

function decide(question: Question, input: string): DecisionResult {
  const name = question.name ?? null;
  if (question.type === "predicate")
    return { type: "predicate", name, probability: nearness(JSON.stringify(question.instructions), input) };
  const options = question.type === "choice" ? question.choices : question.levels;
  // None is impossible, and together they are certain.
  const weights = options.map((option) => 0.01 + nearness(String(option), input));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const shares = weights.map((weight) => weight / sum);
  const confidence = Math.max(...shares);
  const best = shares.indexOf(confidence);
  if (question.type === "choice")
    return {
      ...{ type: "choice", name, choice: question.choices[best]!, confidence },
      probabilities: shares.map((probability, at) => ({ probability, value: question.choices[at]! })),
    };
  return {
    ...{ type: "score", name, score: best, confidence },
    probabilities: shares.map((probability, at) => ({ label: question.levels[at]!, probability, value: at })),
  };
}
