/** `POST /v1/score` of vLLM: how well one text fits each of several, in the order of the request. */
import { Type } from "@sinclair/typebox";
import { invalidRequest } from "../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { AnswerFacts, KindRoute } from "../../core/model-kind.ts";
import type { RerankAnswer, RerankRequest } from "../../core/rerank.ts";
import { fault, missing } from "../../formats/shared/request-fault.ts";
import { count, open, toJson } from "../../formats/shared/schema.ts";
import { documentsOf, MAX_DOCUMENTS, unknownMembers } from "./request.ts";
import { places } from "./places.ts";

const texts = Type.Union([
  Type.String(),
  Type.Array(Type.String(), { minItems: 1, maxItems: MAX_DOCUMENTS }),
]);

const ScoreRequest = open({ model: Type.String({ minLength: 1 }), text_1: texts, text_2: texts });

const ScoreAnswer = open({
  id: Type.String(),
  object: Type.Literal("list"),
  data: Type.Array(open({ index: Type.Integer(), object: Type.Literal("score"), score: Type.Number() })),
  model: Type.String(),
  usage: open({ prompt_tokens: count(), total_tokens: count() }),
});

const KNOWN = new Set(Object.keys(ScoreRequest.properties));

function checkTexts(value: Json | undefined, name: string): void {
  if (value == null) throw missing(name);
  if (typeof value === "string") return;
  if (!Array.isArray(value) || value.length === 0) throw fault(name, "a text, or a list of texts");
  if (value.length > MAX_DOCUMENTS) throw fault(name, `at most ${MAX_DOCUMENTS} texts`);
  const wrong = value.findIndex((item) => typeof item !== "string");
  if (wrong >= 0) throw fault(`${name}[${wrong}]`, "a text");
}

function checkScore(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const { model, text_1: one, text_2: other } = body;
  if (model == null) throw missing("model");
  if (typeof model !== "string" || model === "") throw fault("model", "the name of a model");
  checkTexts(one, "text_1");
  checkTexts(other, "text_2");
  const pairs = Array.isArray(one) ? one.length : 1;
  if (pairs > 1 && pairs !== (Array.isArray(other) ? other.length : 1))
    throw fault("text_2", `as many texts as text_1 has (${pairs}), or one text in text_1`);
}

const listOf = (value: Json | undefined) => (Array.isArray(value) ? (value as string[]) : [value as string]);

function decodeRequest(body: JsonObject): RerankRequest {
  const [query = "", ...more] = listOf(body["text_1"]);
  const isList = Array.isArray(body["text_2"]);
  return {
    model: body["model"] as string,
    dialect: "score",
    query,
    ...(more.length > 0 && { pairs: [query, ...more] }),
    documents: documentsOf(listOf(body["text_2"]), undefined),
    wantsDocuments: false,
    inOrder: true,
    leftOut: unknownMembers(body, KNOWN),
    pathOf: (part) => (typeof part === "number" && isList ? `text_2[${part}]` : "text_2"),
  };
}

function writeAnswer({ results }: RerankAnswer, _request: RerankRequest, facts: AnswerFacts): string {
  return JSON.stringify({
    ...{ id: facts.id, object: "list", created: facts.created, model: facts.model },
    data: results.map(({ index, score }) => ({ index, object: "score", score })),
    usage: { prompt_tokens: facts.input, total_tokens: facts.input, completion_tokens: 0 },
  });
}

export const scoreRoute: KindRoute<RerankRequest, RerankAnswer> = {
  operation: "score",
  summary: "Score texts (vLLM)",
  description:
    "How well a text fits each of several others, in their order; or each text of a list its counterpart.",
  path: "/v1/score",
  aliases: ["/score"],
  schemas: { request: toJson(ScoreRequest), answer: toJson(ScoreAnswer) },
  checkRequest: checkScore,
  decodeRequest,
  writeAnswer,
  places,
};
