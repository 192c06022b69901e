/** The dialect of Cohere's models: its own API (`POST /v2/embed`), and InvokeModel of Amazon Bedrock. */
import type { CodecContext } from "../core/context.ts";
import type { EmbedDialect } from "../core/embed-dialect.ts";
import type { EmbedAnswer, EmbedEndpoint, EmbedRequest } from "../core/embed.ts";
import type { HeaderReader } from "../core/headers.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isObject } from "../core/json.ts";
import { decodeAwsError } from "../formats/shared/aws-error.ts";
import { count } from "../formats/shared/token-counts.ts";
import { decodeError } from "../formats/shared/upstream-error.ts";
import { tokensInHeader } from "./bedrock-header.ts";
import type { OptionNames, PurposeWords } from "./options.ts";
import { dropExtra, encodeOptions } from "./options.ts";
import { vector, vectorsOf } from "./vectors.ts";

const NAMES: OptionNames = { dimensions: "output_dimension", inputType: "input_type", user: false };

const WORDS: PurposeWords = {
  query: "search_query",
  document: "search_document",
  classification: "classification",
  clustering: "clustering",
};

function encodeBody(request: EmbedRequest, endpoint: EmbedEndpoint, context: CodecContext): JsonObject {
  dropExtra(request, context);
  return {
    texts: request.inputs as Json[],
    // Required; most texts are embedded to be found later.
    input_type: "search_document",
    ...encodeOptions(request, endpoint, context, NAMES, WORDS),
    // By default Cohere cuts a text that is too long, and says nothing.
    truncate: "NONE",
  };
}

function readAnswer({ embeddings, meta }: JsonObject, headers: HeaderReader): EmbedAnswer | undefined {
  // The older models in Bedrock have no group of encodings.
  const lists = isObject(embeddings) ? embeddings.float : embeddings;
  const vectors = vectorsOf(lists, vector);
  const units =
    isObject(meta) && isObject(meta.billed_units) ? count(meta.billed_units.input_tokens) : undefined;
  const input = units ?? tokensInHeader(headers);
  return vectors && { vectors, ...(input !== undefined && { usage: { input } }) };
}

const shared = { maxInputs: 96, readAnswer, requestHeaders: [], answerHeaders: [] };

export const cohereEmbeddings: EmbedDialect = {
  id: "cohere-embed",
  ...shared,
  decodeError,
  encodeRequest: (request, endpoint, context) => ({
    model: context.target.model,
    ...encodeBody(request, endpoint, context),
    embedding_types: ["float"],
  }),
};

/** The model is in the URL. */
export const cohereInvoke: EmbedDialect = {
  id: "cohere-invoke",
  ...shared,
  decodeError: decodeAwsError,
  encodeRequest: encodeBody,
};
