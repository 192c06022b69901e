/** The dialects of Google's models: `batchEmbedContents` of the Gemini API, and `predict` of Vertex AI. The URL names the model. */
import type { EmbedDialect } from "../core/embed-dialect.ts";
import type { EmbedAnswer } from "../core/embed.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isObject } from "../core/json.ts";
import { count } from "../formats/shared/token-counts.ts";
import { decodeError } from "../formats/shared/upstream-error.ts";
import type { OptionNames, PurposeWords } from "./options.ts";
import { dropExtra, encodeOptions } from "./options.ts";
import { vector, vectorsOf } from "./vectors.ts";

const WORDS: PurposeWords = {
  query: "RETRIEVAL_QUERY",
  document: "RETRIEVAL_DOCUMENT",
  classification: "CLASSIFICATION",
  clustering: "CLUSTERING",
  similarity: "SEMANTIC_SIMILARITY",
};

const NAMES: OptionNames = { dimensions: "outputDimensionality", inputType: "taskType", user: false };

/** `{ values: […] }`. */
function valuesOf(item: Json | undefined): number[] | undefined {
  return isObject(item) ? vector(item.values) : undefined;
}

export const geminiEmbeddings: EmbedDialect = {
  id: "gemini-embed",
  maxInputs: 100,
  encodeRequest(request, endpoint, context) {
    if (!context.sameFormat) dropExtra(request, context);
    const options = {
      ...(context.sameFormat && request.extra),
      ...encodeOptions(request, endpoint, context, NAMES, WORDS),
    };
    const model = `models/${context.target.model}`;
    return {
      requests: request.inputs.map((input) => ({
        model,
        content: { parts: [{ text: input as string }] },
        ...options,
      })),
    };
  },
  readAnswer({ embeddings, usageMetadata }: JsonObject): EmbedAnswer | undefined {
    const vectors = vectorsOf(embeddings, valuesOf);
    // Only newer models count tokens.
    const input = isObject(usageMetadata) ? count(usageMetadata.promptTokenCount) : undefined;
    return vectors && { vectors, ...(input !== undefined && { usage: { input } }) };
  },
  decodeError,
  requestHeaders: [],
  answerHeaders: [],
};

export const vertexEmbeddings: EmbedDialect = {
  id: "vertex-predict",
  maxInputs: 250,
  encodeRequest(request, endpoint, context) {
    dropExtra(request, context);
    const { taskType, ...parameters } = encodeOptions(request, endpoint, context, NAMES, WORDS);
    return {
      instances: request.inputs.map((input) => ({
        content: input as string,
        ...(taskType !== undefined && { task_type: taskType }),
      })),
      // By default Vertex cuts a text that is too long, and says so only in the statistics.
      parameters: { ...parameters, autoTruncate: false },
    };
  },
  readAnswer({ predictions }: JsonObject): EmbedAnswer | undefined {
    if (!Array.isArray(predictions)) return undefined;
    const found = predictions.map((item) => (isObject(item) ? (item.embeddings ?? null) : null));
    const vectors = vectorsOf(found, valuesOf);
    const counts = found.map((item) =>
      isObject(item) && isObject(item.statistics) ? count(item.statistics.token_count) : undefined,
    );
    const isCounted = counts.length > 0 && counts.every((tokens) => tokens !== undefined);
    return (
      vectors && {
        vectors,
        ...(isCounted && { usage: { input: counts.reduce<number>((sum, tokens) => sum + tokens, 0) } }),
      }
    );
  },
  decodeError,
  requestHeaders: [],
  answerHeaders: [],
};
