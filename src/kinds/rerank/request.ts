/** Reads rerank requests in the dialects of clients. */
import { Type } from "@sinclair/typebox";
import { invalidRequest } from "../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { LeftOut } from "../../core/loss.ts";
import type { RerankDocument, RerankRequest } from "../../core/rerank.ts";
import { fault, missing } from "../../formats/shared/request-fault.ts";
import { open, optional } from "../../formats/shared/schema.ts";

/** As many as Cohere and Voyage accept. */
export const MAX_DOCUMENTS = 1000;

const count = (description: string) => optional(Type.Integer({ minimum: 1, description }));
const flag = (description: string) => optional(Type.Boolean({ description }));
const DOCUMENTS = Type.Array(Type.Union([Type.String(), open({})]), {
  minItems: 1,
  maxItems: MAX_DOCUMENTS,
  description: "Texts, or objects with `text` or `image`.",
});

/** The model of a request of text-embeddings-inference: an operator gives a model this name. */
export const DEFAULT_MODEL = "rerank";

const COMMON = {
  model: Type.String({ minLength: 1 }),
  query: Type.String(),
};

export const CohereV2Request = open({
  ...COMMON,
  documents: DOCUMENTS,
  top_n: count("Number of results. Absent: all."),
  max_tokens_per_doc: count("Tokens of a document after which the provider cuts it off."),
});

export const RerankBody = open({
  ...COMMON,
  model: Type.Optional(
    Type.String({
      minLength: 1,
      description: `Default with \`texts\`: \`${DEFAULT_MODEL}\`; else required.`,
    }),
  ),
  documents: Type.Optional(DOCUMENTS),
  texts: Type.Optional(
    Type.Array(Type.String(), { description: "text-embeddings-inference: the documents." }),
  ),
  top_n: count("Number of results. Absent: all."),
  top_k: count("Voyage: number of results."),
  return_documents: flag("Whether the answer has the documents."),
  return_text: flag("text-embeddings-inference: whether the answer has the documents."),
  max_chunks_per_doc: count("Cohere: chunks of a document after which it is cut off."),
  rank_fields: optional(
    Type.Array(Type.String(), { description: "Cohere: the members of documents that count." }),
  ),
  truncation: flag("Voyage: whether what is too long is cut off."),
  truncate: flag("text-embeddings-inference: whether what is too long is cut off."),
  raw_scores: flag("text-embeddings-inference: scores before normalisation."),
});

/** @throws GatewayError for a body without a query, or without documents that can be ranked */
export function checkRerank(body: Json, list: "documents" | "texts"): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const { model, query } = body;
  // Servers of text-embeddings-inference have one model, and their clients name none.
  if (model == null && list === "documents") throw missing("model");
  if (model != null && (typeof model !== "string" || model === ""))
    throw fault("model", "the name of a model");
  if (query == null) throw missing("query");
  if (typeof query !== "string" || query === "") throw fault("query", "a text");
  checkDocuments(body[list], list);
  for (const name of ["top_n", "top_k", "max_tokens_per_doc"]) {
    const value = body[name];
    if (value != null && !(Number.isInteger(value) && (value as number) >= 1))
      throw fault(name, "a whole number from 1 on");
  }
  for (const name of ["return_documents", "return_text", "truncation", "truncate", "raw_scores"])
    if (body[name] != null && typeof body[name] !== "boolean") throw fault(name, "true or false");
  const fields = body["rank_fields"];
  if (fields != null && !(Array.isArray(fields) && fields.every((field) => typeof field === "string")))
    throw fault("rank_fields", "a list of names");
}

function checkDocuments(list: Json | undefined, name: string): void {
  if (list == null) throw missing(name);
  if (!Array.isArray(list) || list.length === 0) throw fault(name, "a list with at least one document");
  if (list.length > MAX_DOCUMENTS) throw fault(name, `at most ${MAX_DOCUMENTS} documents`);
  const wrong = list.findIndex(
    (item) => typeof item !== "string" && !(name === "documents" && isObject(item)),
  );
  if (wrong >= 0) throw fault(`${name}[${wrong}]`, name === "texts" ? "a text" : "a text, or an object");
}

/** The documents with their texts. @param fields `rank_fields`: the members that count, in this order */
export function documentsOf(list: readonly Json[], fields: readonly string[] | undefined): RerankDocument[] {
  return list.map((given, index) => {
    if (typeof given === "string") return { text: given, given };
    const document = given as JsonObject;
    const { text, image, image_url: url } = document;
    if (fields) return { text: joined(document, fields, index), given, isJoined: true };
    if (typeof text === "string") return { text, given };
    const picture = image ?? (isObject(url) ? url["url"] : url);
    if (typeof picture === "string") return { image: picture, given };
    throw fault(`documents[${index}]`, "a member `text` or `image`, or `rank_fields` that name its members");
  });
}

function joined(document: JsonObject, fields: readonly string[], index: number): string {
  const lines = fields.flatMap((field) => {
    const value = document[field];
    if (value == null) return [];
    return [`${field}: ${typeof value === "object" ? JSON.stringify(value) : String(value)}`];
  });
  if (lines.length === 0) throw fault(`documents[${index}]`, "a member that `rank_fields` names");
  return lines.join("\n");
}

/** The members that the canonical request does not have. */
export function unknownMembers(body: JsonObject, known: ReadonlySet<string>): LeftOut[] {
  return Object.keys(body)
    .filter((name) => !known.has(name) && body[name] !== null)
    .map((path) => ({ loss: "unknown", path }));
}

/** The dialect of a request of the shared path, by the members that only one vendor has. */
export function dialectOf(body: JsonObject): string {
  if (body["texts"] != null) return "tei-rerank";
  if (body["top_k"] != null || (body["truncation"] != null && body["top_n"] == null)) return "voyage-rerank";
  if (body["rank_fields"] != null || body["max_chunks_per_doc"] != null) return "cohere-rerank-v1";
  return "jina-rerank";
}

export function decodeRerank(body: JsonObject): RerankRequest {
  const list = (body["documents"] ?? body["texts"]) as Json[];
  const fields = (body["rank_fields"] ?? undefined) as string[] | undefined;
  const top = (body["top_n"] ?? body["top_k"] ?? undefined) as number | undefined;
  const perDocumentTokens = (body["max_tokens_per_doc"] ?? undefined) as number | undefined;
  const truncation = (body["truncation"] ?? body["truncate"] ?? undefined) as boolean | undefined;
  const known = new Set([...Object.keys(RerankBody.properties), "max_tokens_per_doc"]);
  const chunks: LeftOut[] =
    body["max_chunks_per_doc"] == null ? [] : [{ loss: "dropped", path: "max_chunks_per_doc" }];
  const names = {
    top: body["top_n"] == null ? "top_k" : "top_n",
    perDocumentTokens: "max_tokens_per_doc",
    truncation: body["truncation"] == null ? "truncate" : "truncation",
    rawScores: "raw_scores",
  };
  return {
    model: (body["model"] ?? DEFAULT_MODEL) as string,
    dialect: dialectOf(body),
    query: body["query"] as string,
    documents: documentsOf(list, fields),
    ...(top !== undefined && { top }),
    ...(perDocumentTokens !== undefined && { perDocumentTokens }),
    ...(truncation !== undefined && { truncation }),
    ...(body["raw_scores"] === true && { rawScores: true }),
    wantsDocuments: body["return_documents"] === true || body["return_text"] === true,
    leftOut: [...unknownMembers(body, known), ...chunks],
    pathOf: (part) =>
      typeof part === "number" ? `${body["texts"] == null ? "documents" : "texts"}[${part}]` : names[part],
  };
}
