/** How providers are asked for a ranking. */
import type { CodecContext } from "../../core/context.ts";
import { invalidRequest } from "../../core/error.ts";
import { parseWithNumbers } from "../../core/exact-json.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { KindUsage } from "../../core/kind.ts";
import type { KindDialect } from "../../core/model-kind.ts";
import type { RerankAnswer, RerankRequest, RerankResult, Score } from "../../core/rerank.ts";
import { count } from "../../formats/shared/token-counts.ts";
import { decodeError } from "../../formats/shared/upstream-error.ts";
import { sizeBySearches, sizeByTokens } from "./size.ts";

type Dialect = KindDialect<RerankRequest, RerankAnswer>;

/** What all dialects have in common. */
const HOST = {
  decodeError,
  requestHeaders: ["x-client-name", "x-client-request-id"],
  answerHeaders: ["x-ratelimit-*", "retry-after", "retry-after-ms", "x-should-retry"],
} as const;

/** The texts of documents. @throws GatewayError for an image, which the dialect has no place for */
function textsOf({ documents, pairs, pathOf }: RerankRequest, context: CodecContext): string[] {
  if (pairs)
    throw invalidRequest(
      `The provider ${context.target.provider} scores documents for one query; send one request for each text of text_1.`,
      "text_1",
      "unsupported_value",
    );
  return documents.map(({ text, isJoined }, index) => {
    if (text === undefined)
      throw invalidRequest(
        `The provider ${context.target.provider} ranks texts, and this document is an image; send its text.`,
        pathOf(index),
        "unsupported_value",
      );
    if (isJoined && index === 0)
      context.reportLoss("converted", "rank_fields", "each document became one text with its fields");
    return text;
  });
}

/** Reports the options that a dialect lacks. */
function drop(
  request: RerankRequest,
  context: CodecContext,
  parts: readonly ("perDocumentTokens" | "truncation" | "rawScores")[],
): void {
  for (const part of parts)
    if (request[part] !== undefined)
      context.reportLoss("dropped", request.pathOf(part), "the provider has no such option");
}

const isScore = (value: unknown): value is Score =>
  typeof value === "number" || (typeof value === "object" && value !== null && "rawJSON" in value);

/** @param list the items of an answer @param names of the members with score and document */
function resultsOf(
  list: Json | undefined,
  names: { score: string; document: string },
): RerankResult[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const results: RerankResult[] = [];
  for (const item of list) {
    if (!isObject(item)) return undefined;
    const { index } = item;
    const score: unknown = item[names.score];
    const document = item[names.document];
    if (typeof index !== "number" || !isScore(score)) return undefined;
    results.push({ index, score, ...(document != null && { document }) });
  }
  return results;
}

function parsed(text: string): Json | undefined {
  try {
    return parseWithNumbers(text);
  } catch {
    return undefined;
  }
}

/** Reads an answer whose results are a member of an object. */
function reader(
  member: string,
  names: { score: string; document: string },
  usageOf: (body: JsonObject) => KindUsage | undefined,
) {
  return (text: string): RerankAnswer | undefined => {
    const body = parsed(text);
    if (!isObject(body)) return undefined;
    const results = resultsOf(body[member], names);
    if (!results) return undefined;
    const usage = usageOf(body);
    const model = body["model"];
    return { results, ...(usage && { usage }), ...(typeof model === "string" && { model }) };
  };
}

const RELEVANCE = { score: "relevance_score", document: "document" };

/** `usage.total_tokens`; vLLM and Jina also say `prompt_tokens`. */
function tokensIn({ usage }: JsonObject): KindUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = count(usage["total_tokens"]) ?? count(usage["prompt_tokens"]);
  return input === undefined ? undefined : { input };
}

/** `meta.billed_units.search_units` of Cohere. */
function searchesIn({ meta }: JsonObject): KindUsage | undefined {
  const billed = isObject(meta) ? meta["billed_units"] : undefined;
  const searches = isObject(billed) ? billed["search_units"] : undefined;
  // Units are whole numbers: a part of a search is one.
  return typeof searches === "number" && searches >= 0
    ? { units: { search: Math.ceil(searches) } }
    : undefined;
}

const cohere: Dialect = {
  ...HOST,
  id: "cohere-rerank",
  sizeOf: sizeBySearches,
  charges: "units",
  encodeRequest(request, context) {
    drop(request, context, ["truncation", "rawScores"]);
    const { query, top, perDocumentTokens } = request;
    return {
      ...{ model: context.target.model, query, documents: textsOf(request, context) },
      ...(top !== undefined && { top_n: top }),
      ...(perDocumentTokens !== undefined && { max_tokens_per_doc: perDocumentTokens }),
    };
  },
  readAnswer: reader("results", RELEVANCE, searchesIn),
  isErrorBody: ({ message }) => typeof message === "string",
};

const jina: Dialect = {
  ...HOST,
  id: "jina-rerank",
  sizeOf: sizeByTokens,
  charges: "tokens",
  encodeRequest(request, context) {
    drop(request, context, ["perDocumentTokens", "truncation", "rawScores"]);
    const { query, documents, top } = request;
    const hasImages = documents.some(({ image }) => image !== undefined);
    const sent = hasImages
      ? documents.map(({ text, image }) => (image === undefined ? { text } : { image }))
      : textsOf(request, context);
    return {
      ...{ model: context.target.model, query, documents: sent },
      ...(top !== undefined && { top_n: top }),
      // Jina returns them unless it is asked not to. weir has them.
      return_documents: false,
    };
  },
  readAnswer: reader("results", RELEVANCE, tokensIn),
  isErrorBody: ({ error, detail, message }) => [error, detail, message].some((part) => part !== undefined),
};

const voyage: Dialect = {
  ...HOST,
  id: "voyage-rerank",
  sizeOf: sizeByTokens,
  charges: "tokens",
  encodeRequest(request, context) {
    drop(request, context, ["perDocumentTokens", "rawScores"]);
    const { query, top, truncation } = request;
    return {
      ...{ model: context.target.model, query, documents: textsOf(request, context) },
      ...(top !== undefined && { top_k: top }),
      ...(truncation !== undefined && { truncation }),
    };
  },
  readAnswer: reader("data", RELEVANCE, tokensIn),
  isErrorBody: ({ detail }) => detail !== undefined,
};

/** text-embeddings-inference serves one model, counts no tokens and ranks all texts. */
const tei: Dialect = {
  ...HOST,
  id: "tei-rerank",
  sizeOf: sizeByTokens,
  charges: "tokens",
  encodeRequest(request, context) {
    drop(request, context, ["perDocumentTokens"]);
    const { query, truncation, rawScores = false } = request;
    return {
      ...{ query, texts: textsOf(request, context), raw_scores: rawScores },
      ...(truncation !== undefined && { truncate: truncation }),
    };
  },
  readAnswer(text) {
    const results = resultsOf(parsed(text), { score: "score", document: "text" });
    return results && { results };
  },
  isErrorBody: ({ error }) => error !== undefined,
};

/** `POST /score` of vLLM: scores of one text with each of several. */
const score: Dialect = {
  ...HOST,
  id: "score",
  sizeOf: sizeByTokens,
  charges: "tokens",
  encodeRequest(request, context) {
    drop(request, context, ["perDocumentTokens", "truncation", "rawScores"]);
    const { pairs, documents } = request;
    const texts = pairs ? documents.map(({ text = "" }) => text) : textsOf(request, context);
    return { model: context.target.model, text_1: pairs ? [...pairs] : request.query, text_2: texts };
  },
  readAnswer: reader("data", { score: "score", document: "document" }, tokensIn),
  isErrorBody: ({ error, detail }) => (error ?? detail) !== undefined,
};

/** Cohere's first version, which another weir takes: Cohere itself has replaced it by the second. */
const cohereV1: Dialect = {
  ...cohere,
  id: "cohere-rerank-v1",
  isErrorBody: ({ message }) => typeof message === "string",
};

export const rerankDialects: readonly Dialect[] = [cohere, cohereV1, jina, voyage, tei, score];
