/** The paths that clients ask for a ranking, and the shapes of the answers there. */
import { Type } from "@sinclair/typebox";
import type { GatewayError } from "../../core/error.ts";
import type { ErrorAnswer } from "../../core/format.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { AnswerFacts, KindRoute } from "../../core/model-kind.ts";
import type { RerankAnswer, RerankRequest, RerankResult } from "../../core/rerank.ts";
import { encodeError as encodeOpenaiError } from "../../formats/shared/error-envelope.ts";
import { count, open, toJson } from "../../formats/shared/schema.ts";
import { places } from "./places.ts";
import {
  checkRerank,
  CohereV2Request,
  decodeRerank,
  DEFAULT_MODEL,
  dialectOf,
  RerankBody,
  unknownMembers,
} from "./request.ts";

type Route = KindRoute<RerankRequest, RerankAnswer>;

const result = open({
  index: Type.Integer({ minimum: 0, description: "Place of the document in the request." }),
  relevance_score: Type.Number(),
});

const meta = open({ billed_units: Type.Optional(open({ search_units: Type.Optional(count()) })) });

const CohereAnswer = open({ id: Type.String(), results: Type.Array(result), meta });

const AnyAnswer = open({
  results: Type.Optional(Type.Array(result)),
  data: Type.Optional(Type.Array(result)),
  model: Type.Optional(Type.String()),
  usage: Type.Optional(open({ total_tokens: count() })),
});

/** The order that the client asked for is that of relevance. */
const scored = ({ index, score }: RerankResult) => ({ index, relevance_score: score as Json });

function metaOf({ usage }: RerankAnswer, { input }: AnswerFacts, version: string): JsonObject {
  const searches = usage?.units?.["search"];
  return {
    api_version: { version },
    billed_units: searches === undefined ? {} : { search_units: searches },
    ...(searches === undefined && { tokens: { input_tokens: input } }),
  };
}

function writeV2(answer: RerankAnswer, _request: RerankRequest, facts: AnswerFacts): string {
  return JSON.stringify({
    id: facts.id,
    results: answer.results.map(scored),
    meta: metaOf(answer, facts, "2"),
  });
}

const textOf = (document: Json | undefined) => (isObject(document) ? document["text"] : document);

/** What every reader of the shared path finds: `results` of Cohere, Jina and vLLM, `data` of Voyage, or the list of TEI. */
function writeAny(answer: RerankAnswer, request: RerankRequest, facts: AnswerFacts): string {
  const { results } = answer;
  if (request.dialect === "tei-rerank")
    return JSON.stringify(
      results.map(({ index, score, document }) => ({
        ...{ index, score },
        ...(request.wantsDocuments && { text: textOf(document) }),
      })),
    );
  const model = facts.model;
  const usage = { prompt_tokens: facts.input, total_tokens: facts.input };
  const withDocument = (as: (document: Json | undefined) => Json | undefined) => (found: RerankResult) => ({
    ...scored(found),
    ...(request.wantsDocuments && { document: as(found.document) }),
  });
  if (request.dialect === "voyage-rerank")
    return JSON.stringify({ object: "list", data: results.map(withDocument(textOf)), model, usage });
  return JSON.stringify({
    ...{ id: facts.id, model },
    results: results.map(withDocument((found) => (typeof found === "string" ? { text: found } : found))),
    ...{ usage, meta: metaOf(answer, facts, "1") },
  });
}

/** Clients of Cohere read `message`, those of Voyage `detail`, those of other vendors the envelope of OpenAI. */
function encodeError(error: GatewayError): ErrorAnswer {
  const encoded = encodeOpenaiError(error);
  return { ...encoded, body: { message: error.message, detail: error.message, ...encoded.body } };
}

const v2: Route = {
  operation: "rerankV2",
  summary: "Rerank documents (Cohere v2)",
  description: "Orders documents by how well they fit a query.",
  path: "/v2/rerank",
  schemas: { request: toJson(CohereV2Request), answer: toJson(CohereAnswer) },
  checkRequest: (body): asserts body is JsonObject => checkRerank(body, "documents"),
  decodeRequest(body) {
    const { rank_fields: _fields, return_documents: _wanted, ...rest } = body;
    const known = new Set(Object.keys(CohereV2Request.properties));
    const leftOut = unknownMembers(body, known);
    return { ...decodeRerank(rest), dialect: "cohere-rerank", leftOut };
  },
  writeAnswer: writeV2,
  encodeError,
  places,
};

const shared: Route = {
  operation: "rerank",
  summary: "Rerank documents (Cohere v1, Jina, vLLM, Voyage, text-embeddings-inference)",
  description:
    "Orders documents by how well they fit a query. The members of the request tell whose client asks, and the answer has the shape that it reads.",
  path: "/v1/rerank",
  aliases: ["/rerank"],
  defaultModel: DEFAULT_MODEL,
  schemas: { request: toJson(RerankBody), answer: toJson(AnyAnswer) },
  checkRequest(body): asserts body is JsonObject {
    checkRerank(body, isObject(body) && dialectOf(body) === "tei-rerank" ? "texts" : "documents");
  },
  decodeRequest: decodeRerank,
  writeAnswer: writeAny,
  encodeError,
  places,
};

export const rerankRoutes: readonly Route[] = [shared, v2];
