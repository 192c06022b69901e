/** `POST /v1/decisions` of OpenAI. */
import { Type } from "@sinclair/typebox";
import type { DecisionAnswer, DecisionRequest, Question } from "../../core/decision.ts";
import { invalidRequest } from "../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { AnswerFacts, KindRoute } from "../../core/model-kind.ts";
import { fault, missing } from "../../formats/shared/request-fault.ts";
import { anything, count, nullable, open, optional, toJson } from "../../formats/shared/schema.ts";
import {
  each,
  ID,
  type Level,
  MEDIA,
  NUMBER,
  TEXT,
  textPlaces,
  WORD,
} from "../../formats/shared/text-places.ts";

const parts = Type.Union([Type.String(), Type.Array(anything())]);

const DecisionBody = open({
  model: Type.String({ minLength: 1 }),
  input: parts,
  questions: Type.Array(
    open({
      type: Type.String({ description: "`predicate`, `choice` or `score`." }),
      name: Type.Optional(Type.String()),
      instructions: parts,
      choices: Type.Optional(Type.Array(open({ value: Type.Union([Type.String(), Type.Boolean()]) }))),
      levels: Type.Optional(Type.Array(open({ label: Type.String() }))),
    }),
    { minItems: 1 },
  ),
  prompt_cache_key: optional(Type.String()),
  prompt_cache_options: optional(anything()),
  safety_identifier: optional(Type.String()),
});

const DecisionBodyAnswer = open({
  model: Type.String(),
  answers: Type.Array(open({ type: Type.String(), name: nullable(Type.String()) })),
  usage: open({ input_tokens: count(), output_tokens: count(), total_tokens: count() }),
});

const PART: Level = {
  members: {
    ...each(WORD, "type role status phase prompt_cache_breakpoint detail"),
    ...each(ID, "id call_id"),
    ...each({ kind: "name" }, "name namespace"),
    ...each(TEXT, "text content refusal json"),
    ...each({ kind: "tool-arguments", isJson: true }, "arguments"),
    ...each({ kind: "tool-arguments" }, "input"),
    ...each({ kind: "tool-result" }, "output"),
    image_url: MEDIA,
  },
};
const CONTENT: Level = {
  members: { ...PART.members, content: PART, output: { ...PART, kind: "tool-result" } },
};

const places = textPlaces({
  request: {
    members: {
      ...each(ID, "model prompt_cache_key"),
      ...each({ kind: "name" }, "safety_identifier"),
      prompt_cache_options: WORD,
      input: CONTENT,
      questions: {
        members: {
          type: WORD,
          name: { kind: "name" },
          instructions: PART,
          choices: { members: { value: TEXT, description: TEXT } },
          levels: { members: { label: TEXT, description: TEXT } },
        },
      },
    },
  },
  answer: {
    members: {
      model: ID,
      usage: NUMBER,
      answers: {
        members: {
          ...each(WORD, "type"),
          ...each(NUMBER, "probability confidence score"),
          ...each({ kind: "name" }, "name"),
          choice: TEXT,
          probabilities: { members: { ...each(NUMBER, "probability"), ...each(TEXT, "value label") } },
        },
      },
    },
  },
  // No answer is a stream.
  stopped: () => [],
});

const isParts = (value: Json | undefined) => typeof value === "string" || Array.isArray(value);

function checkRequest(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const { model, input, questions } = body;
  if (model == null) throw missing("model");
  if (typeof model !== "string" || model === "") throw fault("model", "the name of a model");
  if (input == null) throw missing("input");
  if (!isParts(input)) throw fault("input", "a text, or a list of items");
  if (questions == null) throw missing("questions");
  if (!Array.isArray(questions) || questions.length === 0) throw fault("questions", "at least one question");
  for (const [index, question] of questions.entries()) checkQuestion(question, `questions[${index}]`);
}

const isListOfObjects = (value: Json | undefined) =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

function checkQuestion(question: Json, path: string): void {
  if (!isObject(question)) throw fault(path, "a question");
  const { type, instructions, choices, levels } = question;
  if (typeof type !== "string") throw missing(`${path}.type`);
  if (!isParts(instructions)) throw fault(`${path}.instructions`, "a text, or a list of parts");
  if (type === "choice" && !isListOfObjects(choices))
    throw fault(`${path}.choices`, "a list with at least one choice");
  if (type === "score" && !isListOfObjects(levels))
    throw fault(`${path}.levels`, "a list with at least one level");
}

function decodeRequest(body: JsonObject): DecisionRequest {
  return {
    model: body["model"] as string,
    dialect: "decisions",
    input: body["input"]!,
    questions: (body["questions"] as JsonObject[]).map(questionOf),
  };
}

function questionOf({ type, name, instructions, choices, levels }: JsonObject): Question {
  const common = { instructions: instructions!, ...(typeof name === "string" && { name }) };
  const values = (list: Json | undefined, member: string) => (list as JsonObject[]).map((one) => one[member]);
  if (type === "choice")
    return { ...common, type, choices: values(choices, "value") as (string | boolean)[] };
  if (type === "score") return { ...common, type, levels: values(levels, "label") as string[] };
  // A type that weir does not know reaches a provider of the same dialect as it is.
  return { ...common, type: "predicate" };
}

function writeAnswer(answer: DecisionAnswer, _request: DecisionRequest, facts: AnswerFacts): string {
  const { output = 0, reasoning = 0, cacheRead = 0, cacheWrite = 0 } = answer.usage ?? {};
  const input = facts.input + cacheRead + cacheWrite;
  return JSON.stringify({
    answers: answer.answers,
    model: facts.model,
    usage: {
      input_tokens: input,
      input_tokens_details: { cache_write_tokens: cacheWrite, cached_tokens: cacheRead },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  });
}

export const decisionRoute: KindRoute<DecisionRequest, DecisionAnswer> = {
  operation: "createDecision",
  summary: "Decide questions",
  description:
    "How likely each answer is that a question permits. Hosts that have the endpoint get the client's bytes.",
  path: "/v1/decisions",
  schemas: { request: toJson(DecisionBody), answer: toJson(DecisionBodyAnswer) },
  checkRequest,
  decodeRequest,
  writeAnswer,
  places,
};
